"""The record of how an answer was asked for, by which it can be asked for again: pure.

It is kept with the answer as JSON. What a later Hearth adds has a default, and what it does not
know is left aside, so that old answers and new ones can be read by either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from engines.types import Message


@dataclass(frozen=True)
class FileMark:
    """A file's size in bytes and time of last change in nanoseconds, by which it is known again."""

    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Asked:
    """The request behind one answer: model, files, settings, seed and prompt.

    settings: those of `app.settings.values.fields` that held, by name.

    model: its id, and what it was called. files: of the model itself, in their order; sha256: of
    the first of them, where it was known. seed: the one that was drawn; None while it is not known.
    context: of the model as it was loaded, in tokens. prompt: a hash of all that was sent.
    parts: in how many goes the answer was written; more than one if it was stopped and continued.
    before: what the models were called that wrote the parts before the last, if others did.
    edited: the text is the user's own.
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


EDITED = Asked(parts=0, edited=True)


def as_json(asked: Asked) -> str:
    return json.dumps(asdict(asked), ensure_ascii=False)


def from_json(text: str) -> Asked | None:
    """Read a stored record; None where the answer is older than these records, or none was kept."""
    if not text:
        return None
    values: dict[str, Any] = json.loads(text)
    known = {it.name for it in fields(Asked)}
    kept = {name: value for name, value in values.items() if name in known}
    kept["files"] = tuple(FileMark(**mark) for mark in kept.get("files", ()))
    kept["stop"] = tuple(kept.get("stop", ()))
    kept["before"] = tuple(kept.get("before", ()))
    return Asked(**kept)


def mark_of(path: Path) -> FileMark:
    """Return the mark of the file at `path`. Raises OSError if the file is not there."""
    facts = path.stat()
    return FileMark(facts.st_size, facts.st_mtime_ns)


def prompt_hash(messages: tuple[Message, ...]) -> str:
    """Hash what a model was sent: equal only for the same words in the same turns."""
    from hashlib import sha256

    turns = [
        [message.role, message.text, message.reasoning, *(it.sha256 for it in message.media)]
        for message in messages
    ]
    return sha256(json.dumps(turns, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()


def differences(then: Asked, now: Asked) -> tuple[str, ...]:
    """Name what differed when an answer was asked for again, in a few words each."""
    found = {
        "the conversation before it": then.prompt != now.prompt,
        "the size of the context": then.context != now.context,
        "Hearth’s version": then.hearth != now.hearth,
    }
    return tuple(words for words, differs in found.items() if differs)
