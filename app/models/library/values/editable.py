"""The metadata of a model's file, as it is before it is edited: a value."""

from __future__ import annotations

from dataclasses import dataclass

from app.models.library.values.entry import ModelEntry


@dataclass(frozen=True)
class Editable:
    """A file's metadata as it is.

    context: tokens. template: empty if the file has none. why_not: why the file itself may not
    be changed, if so.

    size_bytes: of the file that would be written in its place. copy_bytes: of all files of a copy.
    """

    entry: ModelEntry
    name: str
    template: str
    context: int
    size_bytes: int
    copy_bytes: int
    why_not: str = ""
