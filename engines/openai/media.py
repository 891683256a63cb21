"""Pictures and sounds as parts of a message in OpenAI's protocol. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Any, Final

from engines.errors import EngineError, MediaUnsupported
from engines.media import sound_seconds
from engines.sentences import N_
from engines.types import Medium, Message

_PICTURE_TOKENS: Final = 1000
_TOKENS_PER_SECOND: Final = 25
_MAX_PICTURE_TOKENS: Final = 16_384
"""Estimates in tokens; the real numbers differ between models, and no server reports them."""

_PER_BYTE: Final = 0.3
"""Tokens per byte of text, about; converts the tokens of a medium into a length of text."""

_REFUSES: Final = re.compile(
    r"image|picture|vision|multi-?modal|mmproj|modalit|audio|content part|content type",
    re.IGNORECASE,
)
"""Words of a server that refuses a request because of its pictures or sounds."""


def content_of(message: Message) -> str | list[dict[str, Any]]:
    """Return the content of a message: a text, or parts of text with the media between them."""
    if not message.media:
        return message.text
    parts: list[dict[str, Any]] = []
    position = 0
    for medium in message.media:
        if text := message.text[position : medium.at].strip("\n"):
            parts.append({"type": "text", "text": text})
        position = max(position, medium.at)
        parts.append(_part(medium))
    if text := message.text[position:].strip("\n"):
        parts.append({"type": "text", "text": text})
    return parts


def _part(medium: Medium) -> dict[str, Any]:
    data = base64.b64encode(medium.data).decode("ascii")
    format_name = _format_of(medium.data)
    if medium.kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": data, "format": format_name}}
    return {"type": "image_url", "image_url": {"url": f"data:image/{format_name};base64,{data}"}}


def _format_of(data: bytes) -> str:
    """Return the format's name for a file that `Medium` can contain."""
    signatures = {b"\x89PNG": "png", b"GIF8": "gif", b"BM": "bmp", b"RIFF": "wav", b"fLaC": "flac"}
    name = next((name for signature, name in signatures.items() if data.startswith(signature)), "")
    return name or ("jpeg" if data.startswith(b"\xff\xd8") else "mp3")


def estimate_media_tokens(messages: Iterable[Message]) -> int:
    """Estimate the tokens of all media in messages."""
    return sum(
        _PICTURE_TOKENS if medium.kind == "image" else _sound_tokens(medium)
        for message in messages
        for medium in message.media
    )


def most_tokens(message: Message) -> int:
    """Return an upper limit for the tokens of a message's media."""
    return sum(
        _MAX_PICTURE_TOKENS if medium.kind == "image" else 4 * _sound_tokens(medium)
        for medium in message.media
    )


def media_size(message: Message) -> int:
    """Return the bytes of text that take about as many tokens as the media of a message."""
    return round(estimate_media_tokens([message]) / _PER_BYTE)


def _sound_tokens(medium: Medium) -> int:
    return 1 + round(_TOKENS_PER_SECOND * (sound_seconds(medium.data) or 0.0))


def media_refused(
    messages: Iterable[Message], server_name: str, model: str, error: EngineError
) -> EngineError:
    """Return the error of a refused request, or one about its media if the server names them."""
    kinds = {medium.kind for message in messages for medium in message.media}
    if not kinds or not _REFUSES.search(error.why):
        return error
    if "image" in kinds:
        return MediaUnsupported(
            N_(
                "{called} takes no pictures for the model “{model}”.",
                called=server_name,
                model=model,
            ),
            error.why,
            N_("Choose a model that sees, or leave the picture out."),
        )
    return MediaUnsupported(
        N_("{called} takes no sounds for the model “{model}”.", called=server_name, model=model),
        error.why,
        N_("Choose a model that hears, or leave the sound out."),
    )
