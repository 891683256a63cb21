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

_OF_A_PICTURE: Final = 1000
_OF_A_SECOND: Final = 25
_MOST_OF_A_PICTURE: Final = 16_384
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
    place = 0
    for medium in message.media:
        if text := message.text[place : medium.at].strip("\n"):
            parts.append({"type": "text", "text": text})
        place = max(place, medium.at)
        parts.append(_part(medium))
    if text := message.text[place:].strip("\n"):
        parts.append({"type": "text", "text": text})
    return parts


def _part(medium: Medium) -> dict[str, Any]:
    data = base64.b64encode(medium.data).decode("ascii")
    form = _form(medium.data)
    if medium.kind == "audio":
        return {"type": "input_audio", "input_audio": {"data": data, "format": form}}
    return {"type": "image_url", "image_url": {"url": f"data:image/{form};base64,{data}"}}


def _form(data: bytes) -> str:
    """Return the format's name for a file that `Medium` can contain."""
    beginnings = {b"\x89PNG": "png", b"GIF8": "gif", b"BM": "bmp", b"RIFF": "wav", b"fLaC": "flac"}
    found = next((name for mark, name in beginnings.items() if data.startswith(mark)), "")
    return found or ("jpeg" if data.startswith(b"\xff\xd8") else "mp3")


def tokens_about(messages: Iterable[Message]) -> int:
    """Estimate the tokens of all media in messages."""
    return sum(
        _OF_A_PICTURE if it.kind == "image" else _of_sound(it)
        for message in messages
        for it in message.media
    )


def most_tokens(message: Message) -> int:
    """Return an upper limit for the tokens of a message's media."""
    return sum(
        _MOST_OF_A_PICTURE if it.kind == "image" else 4 * _of_sound(it) for it in message.media
    )


def size_of(message: Message) -> int:
    """Return the bytes of text that take about as many tokens as the media of a message."""
    return round(tokens_about([message]) / _PER_BYTE)


def _of_sound(medium: Medium) -> int:
    return 1 + round(_OF_A_SECOND * (sound_seconds(medium.data) or 0.0))


def media_refused(
    messages: Iterable[Message], called: str, model: str, error: EngineError
) -> EngineError:
    """Return the error of a refused request, or one about its media if the server names them."""
    kinds = {it.kind for message in messages for it in message.media}
    if not kinds or not _REFUSES.search(error.why):
        return error
    if "image" in kinds:
        return MediaUnsupported(
            N_("{called} takes no pictures for the model “{model}”.", called=called, model=model),
            error.why,
            N_("Choose a model that sees, or leave the picture out."),
        )
    return MediaUnsupported(
        N_("{called} takes no sounds for the model “{model}”.", called=called, model=model),
        error.why,
        N_("Choose a model that hears, or leave the sound out."),
    )
