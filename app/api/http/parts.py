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
from app.api.http.uploads import Intake, data_of, decoded, elsewhere, plain_name
from app.documents.values.documents import Document, DocumentKind, PromptSource, prompt_message
from engines.types import Medium

_TEXTS: Final = frozenset({"text", "input_text", "output_text", "refusal", "summary_text"})
_THOUGHTS: Final = frozenset({"reasoning", "thinking", "reasoning_text", "reasoning.text"})
"""The types of parts with the reasoning before an earlier answer."""
_SEALED: Final = frozenset({"redacted_thinking", "reasoning.encrypted"})
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

    def behind(self, words: str) -> Content:
        """Return the content with these words put before it."""
        media = tuple(replace(it, at=it.at + len(words)) for it in self.media)
        return replace(self, text=words + self.text, media=media)


class ContentBuilder:
    """Joins the parts of one message."""

    def __init__(self, between: str = "\n") -> None:
        """Begin with no parts; `between` separates two texts."""
        self._between = between
        self._text = ""
        self._media: list[Medium] = []
        self._thoughts: list[str] = []
        self._files: dict[str, tuple[str, Document]] = {}

    def add_text(self, text: str) -> None:
        self._text += self._between + text if self._text and text else text

    def add_thought(self, text: str) -> None:
        self._thoughts.append(text)

    def add_file(self, name: str, document: Document) -> None:
        """Add a file: a picture or a sound in place, a text before the message."""
        if document.medium is not None:
            self._media.append(replace(document.medium, at=len(self._text)))
        else:
            self._files[document.sha256] = (name, document)

    def built(self) -> Content:
        """Return the content of all parts."""
        reasoning = "\n\n".join(self._thoughts)
        if not self._files:
            return Content(self._text, tuple(self._media), reasoning)
        sources: list[PromptSource] = []
        for digest, (name, document) in self._files.items():
            sources.append(PromptSource("file", name, digest))
            if document.is_scan:
                sources += [
                    PromptSource("picture", name, digest, it.number) for it in document.pages
                ]
        documents = {digest: document for digest, (_, document) in self._files.items()}
        text, shown = prompt_message(self._text, sources, documents)
        own = (replace(it, at=it.at + len(text) - len(self._text)) for it in self._media)
        return Content(text.rstrip() if not self._text else text, (*shown, *own), reasoning)


def content_of(content: object, where: str, intake: Intake) -> Content:
    """Read content in OpenAI's format. Raises BadRequest, DocumentNotRead and Cancelled."""
    if content is None or isinstance(content, str):
        return Content(content or "")
    built = ContentBuilder()
    for number, part in enumerate(objects_of(content, where)):
        _add(built, part, type_of(part, f"{where}.{number}"), where, intake)
    return built.built()


def _add(
    built: ContentBuilder, part: Mapping[str, Any], kind: str, where: str, intake: Intake
) -> None:
    if kind in _TEXTS:
        text = part.get("text", part.get("refusal"))
        if not isinstance(text, str):
            raise BadRequest(f"“{where}” has no text.", "A part of it lacks it.", "Send it.", where)
        built.add_text(text)
    elif kind in _THOUGHTS:
        given = (part.get(name) for name in ("thinking", "reasoning", "text"))
        built.add_thought(next((it for it in given if isinstance(it, str)), ""))
    elif kind in _SEALED:
        return
    elif kind in {"image_url", "input_image"}:
        its = part.get("image_url")
        _refuse_kept(part, where)
        data = data_of(its.get("url") if isinstance(its, Mapping) else its, where)
        built.add_file("picture", intake.take(data, "picture", DocumentKind.IMAGE, where))
    elif kind == "input_audio":
        its = part.get("input_audio")
        data = decoded(its.get("data") if isinstance(its, Mapping) else None, where)
        built.add_file("sound", intake.take(data, "sound", DocumentKind.AUDIO, where))
    elif kind in {"file", "input_file"}:
        its = part.get("file") if kind == "file" else part
        its = its if isinstance(its, Mapping) else {}
        _refuse_kept(its, where)
        name = plain_name(its.get("filename"), "file")
        built.add_file(name, intake.take(data_of(its.get("file_data"), where), name, None, where))
    else:
        raise no_such_part(kind, where)


def _refuse_kept(part: Mapping[str, Any], where: str) -> None:
    """Refuse a file that is kept by another server or lies at a URL."""
    for name in ("file_id", "file_url"):
        if part.get(name):
            raise elsewhere(str(part[name]), where)


def no_such_part(kind: str, where: str) -> BadRequest:
    """Return the error for a part of a type that cannot be read."""
    return BadRequest(
        f"A part of “{where}” cannot be used.",
        f"It is of the type “{kind[:60]}”, which no model gets here.",
        "Send text, pictures, sounds or files.",
        where,
    )
