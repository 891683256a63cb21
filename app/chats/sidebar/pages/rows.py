"""The rows of the chat list, without reading more chats than are seen."""

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
"""The chats that the sidebar lists: in their order, or those put away in one of the places."""

Group = Literal["pinned", "folders", "today", "yesterday", "week", "earlier"]


class ChatRows(Protocol):
    """The source of the rows, which counts chats and lists folders."""

    def count(self, place: Place) -> int: ...

    def count_since(self, place: Place, when: float) -> int: ...

    def marks(self, place: Place) -> Mapping[ChatMark, int]: ...

    def folders(self) -> list[Folder]: ...


@dataclass(frozen=True)
class Heading:
    """Above a group of rows."""

    group: Group


@dataclass(frozen=True)
class FolderRow:
    """The row of a folder. count: how many chats are in it, also while it is folded.

    marks: how many of its chats have which mark, the strongest first, while it is folded; else
    each shows its own.
    """

    folder: Folder
    count: int
    folded: bool
    marks: Mapping[ChatMark, int] = field(default_factory=dict)


@dataclass(frozen=True)
class ChatRow:
    """A chat, in the part of the list where it stands."""

    chat: ListedChat
    place: Place


Row = Heading | FolderRow | ChatRow


@dataclass(frozen=True)
class ListSection:
    """A row of its own, if there is a head, and then `count` chats of a place from `offset` on."""

    head: Heading | FolderRow | None
    place: Place
    offset: int = 0
    count: int = 0

    @property
    def rows(self) -> int:
        return self.count + (self.head is not None)


@dataclass(frozen=True)
class Spot:
    """A row of the list: of a section, and either its head or a chat by its place there."""

    section: ListSection
    offset: int | None


class Layout:
    """Sections, and which row is where."""

    def __init__(self, sections: Sequence[ListSection] = ()) -> None:
        self.sections = tuple(section for section in sections if section.rows)
        self._ends = list(accumulate(section.rows for section in self.sections))

    @property
    def rows(self) -> int:
        return self._ends[-1] if self._ends else 0

    def spot(self, row: int) -> Spot:
        number = bisect_right(self._ends, row)
        section = self.sections[number]
        within = row - (self._ends[number] - section.rows) - (section.head is not None)
        return Spot(section, None if within < 0 else section.offset + within)

    def row_of(self, place: Place, offset: int) -> int | None:
        """The row of a place's chat; None where its folder is folded."""
        for section, end in zip(self.sections, self._ends, strict=True):
            if section.place == place and 0 <= offset - section.offset < section.count:
                return end - section.count + offset - section.offset
        return None


def layout_of(shelf: ChatRows, scope: Scope, folded: Collection[str], now: datetime) -> Layout:
    """Lay out the list. folded: ids of folders whose chats are not listed. now: local time."""
    if scope == "archive":
        return Layout([ListSection(None, ARCHIVE, 0, shelf.count(ARCHIVE))])
    if scope == "trash":
        return Layout([ListSection(None, TRASH, 0, shelf.count(TRASH))])
    pinned = shelf.count(PINNED)
    sections = [ListSection(Heading("pinned"), PINNED, 0, pinned)] if pinned else []
    folders = shelf.folders()
    if folders:
        sections.append(ListSection(Heading("folders"), CHATS))
    for folder in folders:
        place = folder_place(folder.id)
        count, is_folded = shelf.count(place), folder.id in folded
        head = FolderRow(folder, count, is_folded, shelf.marks(place) if is_folded else {})
        sections.append(ListSection(head, place, 0, 0 if is_folded else count))
    return Layout(sections + _by_day(shelf, now))


def place_of(chat: Chat) -> Place:
    """Return the place in which a chat is listed."""
    if chat.deleted is not None:
        return TRASH
    if chat.archived is not None:
        return ARCHIVE
    if chat.pinned:
        return PINNED
    return folder_place(chat.folder_id) if chat.folder_id else CHATS


def put_there(chat: Chat) -> float:
    """Return the time by which a place is ordered; in seconds since 1970."""
    return chat.deleted or chat.archived or chat.updated


def _by_day(shelf: ChatRows, now: datetime) -> list[ListSection]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    begins: list[tuple[Group, datetime]] = [
        ("today", today),
        ("yesterday", today - timedelta(days=1)),
        ("week", today - timedelta(days=6)),
    ]
    ends = [(group, shelf.count_since(CHATS, begin.timestamp())) for group, begin in begins]
    sections, offset = [], 0
    for group, end in (*ends, ("earlier", shelf.count(CHATS))):
        if end > offset:
            sections.append(ListSection(Heading(group), CHATS, offset, end - offset))
            offset = end
    return sections
