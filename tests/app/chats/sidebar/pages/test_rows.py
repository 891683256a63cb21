"""The rows of the sidebar, computed from counts alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from app.chats.history.values.chat import Chat, ChatMark
from app.chats.history.values.places import (
    ARCHIVE,
    CHATS,
    PINNED,
    TRASH,
    Folder,
    Place,
    folder_place,
)
from app.chats.sidebar.pages.rows import FolderRow, Heading, layout_of, place_of

NOW = datetime(2026, 5, 10, 0, 30, tzinfo=timezone(timedelta(hours=2)))
WORK = Folder("w", "Work", 0, 0.0)


@dataclass
class Counted:
    """A list of chats, given by their ages in hours in each place."""

    ages: dict[Place, list[float]]

    def count(self, place: Place) -> int:
        return len(self.ages.get(place, ()))

    def count_since(self, place: Place, when: float) -> int:
        ages = self.ages.get(place, ())
        return sum((NOW - timedelta(hours=age)).timestamp() >= when for age in ages)

    def marks(self, place: Place) -> Mapping[ChatMark, int]:
        return {"unread": self.count(place)}

    def folders(self) -> list[Folder]:
        return [WORK]


def test_days_are_local_and_empty_ones_are_left_out() -> None:
    shelf = Counted({CHATS: [0.4, 1, 5, 72, 24 * 6, 24 * 9]})
    layout = layout_of(shelf, "chats", (), NOW)
    found = {it.head.group: it.count for it in layout.sections if isinstance(it.head, Heading)}
    assert found == {"folders": 0, "today": 1, "yesterday": 2, "week": 2, "earlier": 1}


def test_rows_know_their_chats_and_chats_their_rows() -> None:
    shelf = Counted({PINNED: [1], folder_place("w"): [1, 2], CHATS: [0.1, 30]})
    layout = layout_of(shelf, "chats", (), NOW)
    assert layout.rows == 2 + 1 + 3 + 2 + 2
    for row in range(layout.rows):
        spot = layout.spot(row)
        if spot.offset is not None:
            assert layout.row_of(spot.section.place, spot.offset) == row
    assert layout.spot(9).section.place == CHATS
    assert layout.spot(9).offset == 1


def test_a_folded_folder_lists_no_chats_but_counts_them() -> None:
    layout = layout_of(Counted({folder_place("w"): [1, 2]}), "chats", {"w"}, NOW)
    heads = [section.head for section in layout.sections]
    assert heads == [Heading("folders"), FolderRow(WORK, 2, folded=True, marks={"unread": 2})]
    assert layout.row_of(folder_place("w"), 0) is None


def test_archive_and_trash_are_lists_of_their_own() -> None:
    shelf = Counted({ARCHIVE: [1, 2], TRASH: [3], CHATS: [4]})
    assert layout_of(shelf, "archive", (), NOW).rows == 2
    assert layout_of(shelf, "trash", (), NOW).rows == 1


def test_every_chat_has_one_place() -> None:
    def chat(**facts: object) -> Chat:
        return Chat("c", "", 0.0, 0.0, None, **facts)  # type: ignore[arg-type]

    assert place_of(chat()) == CHATS
    assert place_of(chat(folder_id="w")) == folder_place("w")
    assert place_of(chat(folder_id="w", pinned=True)) == PINNED
    assert place_of(chat(pinned=True, archived=1.0)) == ARCHIVE
    assert place_of(chat(archived=1.0, deleted=2.0)) == TRASH
