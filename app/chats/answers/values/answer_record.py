"""The record of how an answer was requested, so that it can be requested again: pure.

The record is stored with the answer as JSON. Fields that a later Hearth adds have defaults, and
unknown fields are ignored, so that old and new versions of Hearth can read each other's records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from engines.sentences import N_
from engines.types import Message


@dataclass(frozen=True)
class FileMark:
    """A file's size in bytes and modification time in nanoseconds, to recognise the file later."""

    size: int
    mtime_ns: int


@dataclass(frozen=True)
class AnswerRecord:
    """The request behind one answer: model, files, settings, seed and prompt.

    Attributes:
        model: The model's id.
        name: The model's name at that time.
        files: Marks of the model's own files, in order.
        sha256: Hash of the first file, if known.
        settings: The resolved settings, by their names in `app.settings.values.fields`.
        seed: The seed that was drawn; None until it is known.
        context: The context that the model was loaded with, in tokens.
        prompt: A hash of all messages sent.
        parts: How many runs wrote the answer; more than one if it was stopped and continued.
        before: Names of the models that wrote earlier parts, if other models did.
        edited: Whether the user wrote the text.
    """

    model: str = ""
    name: str = ""
    files: tuple[FileMark, ...] = ()
    sha256: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    context: int = 0
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    depth: int | None = None
    thinking: bool | None = None
    thinking_budget: int | None = None
    effort: str | None = None
    overflow: str = "leave_out"
    prompt: str = ""
    hearth: str = ""
    parts: int = 1
    before: tuple[str, ...] = ()
    edited: bool = False


EDITED = AnswerRecord(parts=0, edited=True)


def as_json(record: AnswerRecord) -> str:
    """Write a record as JSON."""
    return json.dumps(asdict(record), ensure_ascii=False)


def from_json(text: str) -> AnswerRecord | None:
    """Read a stored record; return None for an empty text, as stored with older answers."""
    if not text:
        return None
    values: dict[str, Any] = json.loads(text)
    known = {field.name for field in fields(AnswerRecord)}
    known_values = {name: value for name, value in values.items() if name in known}
    known_values["files"] = tuple(FileMark(**mark) for mark in known_values.get("files", ()))
    known_values["stop"] = tuple(known_values.get("stop", ()))
    known_values["before"] = tuple(known_values.get("before", ()))
    return AnswerRecord(**known_values)


def mark_of(path: Path) -> FileMark:
    """Return the mark of the file at `path`.

    Raises:
        OSError: The file does not exist.
    """
    facts = path.stat()
    return FileMark(facts.st_size, facts.st_mtime_ns)


def prompt_hash(messages: tuple[Message, ...]) -> str:
    """Hash the messages sent to a model; equal only for the same words in the same turns."""
    from hashlib import sha256

    turns = [
        [
            message.role,
            message.text,
            message.reasoning,
            *(medium.sha256 for medium in message.media),
        ]
        for message in messages
    ]
    return sha256(json.dumps(turns, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


def differences(old: AnswerRecord, new: AnswerRecord) -> tuple[str, ...]:
    """List the differences between two requests for an answer, in a few words each."""
    found = {
        N_("the conversation before it"): old.prompt != new.prompt,
        N_("the size of the context"): old.context != new.context,
        N_("Hearth’s version"): old.hearth != new.hearth,
    }
    return tuple(words for words, differs in found.items() if differs)
