"""The rows of the chat list, computed without reading the chats that are not visible."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Literal, Protocol

from app.chats.history.values.chat import Chat, ChatMark, ListedChat
from app.chats.history.values.places import (
    ARCHIVE,
    CHATS,
    PINNED,
    TRASH,
    Folder,
    Place,
    folder_place,
)

Scope = Literal["chats", "archive", "trash"]
"""The list that the sidebar shows."""

Group = Literal["pinned", "folders", "today", "yesterday", "week", "earlier"]


class ChatRows(Protocol):
    """The source of the rows, which counts chats and lists folders."""

    def count(self, place: Place) -> int:
        """Return the number of chats in a place."""

    def count_since(self, place: Place, when: float) -> int:
        """Return the number of chats in a place since a time, in seconds since 1970."""

    def marks(self, place: Place) -> Mapping[ChatMark, int]:
        """Return the number of chats with each mark in a place."""

    def folders(self) -> list[Folder]:
        """Return the folders in their order."""


@dataclass(frozen=True)
class Heading:
    """The row above a group of rows."""

    group: Group


@dataclass(frozen=True)
class FolderRow:
    """The row of a folder.

    Attributes:
        folder: The folder.
        count: The number of chats in it, also while it is folded.
        folded: Whether its chats are hidden.
        marks: The number of its chats for each mark, the most important mark first. Empty while
            the folder is unfolded, as each chat then shows its own mark.
    """

    folder: Folder
    count: int
    folded: bool
    marks: Mapping[ChatMark, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ChatRow:
    """The row of a chat, with the place that lists it."""

    chat: ListedChat
    place: Place


Row = Heading | FolderRow | ChatRow


@dataclass(frozen=True)
class ListSection:
    """A section of the list: perhaps a head, and then `count` chats of a place from `offset` on."""

    head: Heading | FolderRow | None
    place: Place
    offset: int = 0
    count: int = 0

    @property
    def rows(self) -> int:
        """The number of rows, including the head."""
        return self.count + (self.head is not None)


@dataclass(frozen=True)
class Spot:
    """A row of the list.

    Attributes:
        section: The section of the row.
        offset: The offset of the chat in the section's place; None for the head.
    """

    section: ListSection
    offset: int | None


class Layout:
    """The sections of the list, with the rows in each."""

    def __init__(self, sections: Sequence[ListSection] = ()) -> None:
        self.sections = tuple(section for section in sections if section.rows)
        self._ends = list(accumulate(section.rows for section in self.sections))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._ends[-1] if self._ends else 0

    def spot(self, row: int) -> Spot:
        """Return the section and the chat of a row."""
        number = bisect_right(self._ends, row)
        section = self.sections[number]
        within = row - (self._ends[number] - section.rows) - (section.head is not None)
        return Spot(section, None if within < 0 else section.offset + within)

    def row_of(self, place: Place, offset: int) -> int | None:
        """Return the row of the chat at an offset of a place; None if its folder is folded."""
        for section, end in zip(self.sections, self._ends, strict=True):
            if section.place == place and 0 <= offset - section.offset < section.count:
                return end - section.count + offset - section.offset
        return None


def layout_of(source: ChatRows, scope: Scope, folded: Collection[str], now: datetime) -> Layout:
    """Lay out the list.

    Args:
        source: The source of the rows.
        scope: The list to show.
        folded: The ids of the folders whose chats are not listed.
        now: The current local time.
    """
    if scope == "archive":
        return Layout([ListSection(None, ARCHIVE, 0, source.count(ARCHIVE))])
    if scope == "trash":
        return Layout([ListSection(None, TRASH, 0, source.count(TRASH))])
    pinned = source.count(PINNED)
    sections = [ListSection(Heading("pinned"), PINNED, 0, pinned)] if pinned else []
    folders = source.folders()
    if folders:
        sections.append(ListSection(Heading("folders"), CHATS))
    for folder in folders:
        place = folder_place(folder.id)
        count, is_folded = source.count(place), folder.id in folded
        head = FolderRow(folder, count, is_folded, source.marks(place) if is_folded else {})
        sections.append(ListSection(head, place, 0, 0 if is_folded else count))
    return Layout(sections + _by_day(source, now))


def place_of(chat: Chat) -> Place:
    """Return the place that lists a chat."""
    if chat.deleted is not None:
        return TRASH
    if chat.archived is not None:
        return ARCHIVE
    if chat.pinned:
        return PINNED
    return folder_place(chat.folder_id) if chat.folder_id else CHATS


def sort_time(chat: Chat) -> float:
    """Return the time by which a place sorts its chats, in seconds since 1970."""
    return chat.deleted or chat.archived or chat.updated


def _by_day(source: ChatRows, now: datetime) -> list[ListSection]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    starts: list[tuple[Group, datetime]] = [
        ("today", today),
        ("yesterday", today - timedelta(days=1)),
        ("week", today - timedelta(days=6)),
    ]
    ends = [(group, source.count_since(CHATS, start.timestamp())) for group, start in starts]
    sections, offset = [], 0
    for group, end in (*ends, ("earlier", source.count(CHATS))):
        if end > offset:
            sections.append(ListSection(Heading(group), CHATS, offset, end - offset))
            offset = end
    return sections
