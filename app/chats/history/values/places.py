"""The places of the sidebar; every chat is in exactly one, apart from "all"."""

from __future__ import annotations

from typing import Literal, NamedTuple

PlaceKind = Literal["all", "pinned", "chats", "folder", "archive", "trash"]


class Place(NamedTuple):
    """One place of the sidebar; `folder_id` is set for the kind "folder" alone."""

    kind: PlaceKind
    folder_id: str | None = None


ALL = Place("all")
"""The chats that are neither archived nor deleted; the only place that overlaps with others."""

PINNED = Place("pinned")
"""The chats that the user pinned to the top, from any folder."""

CHATS = Place("chats")
"""The chats that are not pinned and in no folder."""

ARCHIVE = Place("archive")
TRASH = Place("trash")


def folder_place(folder_id: str) -> Place:
    """Return the place of a folder's chats that are not pinned."""
    return Place("folder", folder_id)


class Folder(NamedTuple):
    """A folder of chats.

    Attributes:
        position: Its place among the folders, from 0.
        created: Seconds since 1970.
    """

    id: str
    name: str
    position: int
    created: float


class RemovedFolder(NamedTuple):
    """A removed folder and the ids of its chats, so that it can be restored."""

    folder: Folder
    chat_ids: tuple[str, ...]
