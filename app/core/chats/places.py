"""Where a chat lies in the sidebar: every chat is in exactly one place."""

from __future__ import annotations

from typing import Literal, NamedTuple

PlaceKind = Literal["all", "pinned", "chats", "folder", "archive", "trash"]


class Place(NamedTuple):
    """folder_id: of a place of kind "folder", None otherwise."""

    kind: PlaceKind
    folder_id: str | None = None


ALL = Place("all")
"""Every chat that is neither archived nor deleted; the one place that overlaps with others."""

PINNED = Place("pinned")
"""What the user wants on top, whichever folder it belongs to."""

CHATS = Place("chats")
"""What is not pinned and in no folder."""

ARCHIVE = Place("archive")
TRASH = Place("trash")


def folder_place(folder_id: str) -> Place:
    """What is in a folder and not pinned."""
    return Place("folder", folder_id)


class Folder(NamedTuple):
    """A folder of chats. position: its place among the folders, from 0; created: as of a chat."""

    id: str
    name: str
    position: int
    created: float


class RemovedFolder(NamedTuple):
    """A folder that was taken away, and the chats that were in it, so that it can come back."""

    folder: Folder
    chat_ids: tuple[str, ...]
