"""The content of a message: its text, with files before it and pictures in place.

The text of a file goes before the message's own, between fences with its name and place, as in a
chat in the window. It is material, never an instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from app.api.http.fields import objects_of, type_of
from app.api.http.request import BadRequest
from app.api.http.uploads import (
    Intake,
    decode_base64,
    decode_data_url,
    display_name,
    not_in_request,
)
from app.documents.values.documents import Document, DocumentKind, PromptSource, prompt_message
from engines.types import Medium

_TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text", "refusal", "summary_text"})
_REASONING_TYPES: Final = frozenset({"reasoning", "thinking", "reasoning_text", "reasoning.text"})
"""The types of parts with the reasoning before an earlier answer."""
_SEALED_TYPES: Final = frozenset({"redacted_thinking", "reasoning.encrypted"})
"""Reasoning that only the server that wrote it can read."""


@dataclass(frozen=True)
class Content:
    """The text and the media of a message.

    Attributes:
        reasoning: The reasoning before it.
    """

    text: str = ""
    media: tuple[Medium, ...] = ()
    reasoning: str = ""

    def with_prefix(self, prefix: str) -> Content:
        """Return the content with this text before it."""
        media = tuple(replace(medium, at=medium.at + len(prefix)) for medium in self.media)
        return replace(self, text=prefix + self.text, media=media)


class ContentBuilder:
    """Joins the parts of one message."""

    def __init__(self, between: str = "\n") -> None:
        """Begin without parts; `between` separates two texts."""
        self._between = between
        self._text = ""
        self._media: list[Medium] = []
        self._thoughts: list[str] = []
        self._files: dict[str, tuple[str, Document]] = {}

    def add_text(self, text: str) -> None:
        """Add text of the message itself."""
        self._text += self._between + text if self._text and text else text

    def add_reasoning(self, text: str) -> None:
        """Add a part of the reasoning before an earlier answer."""
        self._thoughts.append(text)

    def add_file(self, name: str, document: Document) -> None:
        """Add a file: a picture or a sound in place, a text before the message."""
        if document.medium is not None:
            self._media.append(replace(document.medium, at=len(self._text)))
        else:
            self._files[document.sha256] = (name, document)

    def build(self) -> Content:
        """Return the content of all parts."""
        reasoning = "\n\n".join(self._thoughts)
        if not self._files:
            return Content(self._text, tuple(self._media), reasoning)
        sources: list[PromptSource] = []
        for digest, (name, document) in self._files.items():
            sources.append(PromptSource("file", name, digest))
            if document.is_scan:
                sources += [
                    PromptSource("picture", name, digest, page.number) for page in document.pages
                ]
        documents = {digest: document for digest, (_, document) in self._files.items()}
        text, file_media = prompt_message(self._text, sources, documents)
        own_media = (
            replace(page, at=page.at + len(text) - len(self._text)) for page in self._media
        )
        return Content(
            text.rstrip() if not self._text else text, (*file_media, *own_media), reasoning
        )


def content_of(content: object, path: str, intake: Intake) -> Content:
    """Read content in OpenAI's format. Raises BadRequest, DocumentNotRead and Cancelled."""
    if content is None or isinstance(content, str):
        return Content(content or "")
    builder = ContentBuilder()
    for number, part in enumerate(objects_of(content, path)):
        _add(builder, part, type_of(part, f"{path}.{number}"), path, intake)
    return builder.build()


def _add(
    builder: ContentBuilder, part: Mapping[str, Any], kind: str, path: str, intake: Intake
) -> None:
    if kind in _TEXT_TYPES:
        text = part.get("text", part.get("refusal"))
        if not isinstance(text, str):
            raise BadRequest(
                f"A part of “{path}” has no text.", "Its text is missing.", "Send it.", path
            )
        builder.add_text(text)
    elif kind in _REASONING_TYPES:
        texts = (part.get(name) for name in ("thinking", "reasoning", "text"))
        builder.add_reasoning(next((text for text in texts if isinstance(text, str)), ""))
    elif kind in _SEALED_TYPES:
        return
    elif kind in {"image_url", "input_image"}:
        value = part.get("image_url")
        _refuse_references(part, path)
        data = decode_data_url(value.get("url") if isinstance(value, Mapping) else value, path)
        builder.add_file("picture", intake.read_file(data, "picture", DocumentKind.IMAGE, path))
    elif kind == "input_audio":
        value = part.get("input_audio")
        data = decode_base64(value.get("data") if isinstance(value, Mapping) else None, path)
        builder.add_file("sound", intake.read_file(data, "sound", DocumentKind.AUDIO, path))
    elif kind in {"file", "input_file"}:
        value = part.get("file") if kind == "file" else part
        value = value if isinstance(value, Mapping) else {}
        _refuse_references(value, path)
        name = display_name(value.get("filename"), "file")
        builder.add_file(
            name, intake.read_file(decode_data_url(value.get("file_data"), path), name, None, path)
        )
    else:
        raise unknown_part(kind, path)


def _refuse_references(part: Mapping[str, Any], path: str) -> None:
    """Refuse a file that is kept by another server or lies at a URL."""
    for name in ("file_id", "file_url"):
        if part.get(name):
            raise not_in_request(str(part[name]), path)


def unknown_part(kind: str, path: str) -> BadRequest:
    """Return the error for a part of a type that cannot be read."""
    return BadRequest(
        f"A part of “{path}” cannot be used.",
        f"Its type is “{kind[:60]}”, which Hearth passes to no model.",
        "Send text, pictures, sounds or files.",
        path,
    )
