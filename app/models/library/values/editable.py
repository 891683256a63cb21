"""The metadata of a model's file before it is edited: a value."""

from __future__ import annotations

from dataclasses import dataclass

from app.models.library.values.entry import ModelEntry


@dataclass(frozen=True)
class EditableMetadata:
    """A file's current metadata.

    Attributes:
        template: Empty if the file has none.
        context: Context length in tokens.
        size_bytes: Size of the file that would be written in its place.
        copy_bytes: Size of all files of a copy.
        why_not: Why the file itself cannot be changed; empty if it can.
    """

    entry: ModelEntry
    name: str
    template: str
    context: int
    size_bytes: int
    copy_bytes: int
    why_not: str = ""
