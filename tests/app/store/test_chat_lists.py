"""Where chats lie: places, pages, counts, and moving many at once."""

from __future__ import annotations

import sqlite3

import pytest

from app.core.chats.places import ALL, ARCHIVE, CHATS, PINNED, TRASH, Place, folder_place
from app.store.chat_lists import ChatLists
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.folders import FolderStore, new_folder


@pytest.fixture
def lists(database: Database) -> ChatLists:
    return ChatLists(database)


@pytest.fixture
def folders(database: Database) -> FolderStore:
    return FolderStore(database)


@pytest.fixture
def ids(chats: ChatStore) -> list[str]:
    """Of six chats, "0" to "5", the last used last."""
    return [chats.ask(None, str(number))[0].chat_id for number in range(6)]


def titles(lists: ChatLists, place: Place) -> str:
    found = "".join(chat.title for chat in lists.page(place, 0, 100))
    assert lists.count(place) == len(found)
    return found


def test_each_chat_is_in_one_place(
    chats: ChatStore, lists: ChatLists, folders: FolderStore, ids: list[str]
) -> None:
    folder = new_folder("Work")
    folders.add(folder)
    lists.move(ids[:3], folder.id)
    lists.set_pinned((ids[2], ids[3]), True)
    lists.set_archived((ids[0], ids[4]), True)
    chats.delete(ids[4])
    places = (PINNED, CHATS, folder_place(folder.id), ARCHIVE, TRASH)
    assert [titles(lists, place) for place in places] == ["32", "5", "1", "0", "4"]
    assert titles(lists, ALL) == "5321"


def test_what_comes_back_lies_where_it_was(
    chats: ChatStore, lists: ChatLists, folders: FolderStore, ids: list[str]
) -> None:
    folder = new_folder("Work")
    folders.add(folder)
    lists.move(ids[:1], folder.id)
    lists.set_pinned(ids[1:2], True)
    lists.set_archived(ids[2:3], True)
    chats.delete(*ids)
    assert titles(lists, TRASH) == "543210"
    chats.undelete(*ids)
    places = (folder_place(folder.id), PINNED, ARCHIVE, CHATS)
    assert [titles(lists, place) for place in places] == ["0", "1", "2", "543"]


def test_a_page_is_a_part_of_the_place(lists: ChatLists, ids: list[str]) -> None:
    assert [chat.title for chat in lists.page(CHATS, 1, 2)] == ["4", "3"]
    assert lists.page(CHATS, 6, 2) == []


def test_the_archive_and_the_trash_begin_with_what_came_last(
    chats: ChatStore, lists: ChatLists, ids: list[str], database: Database
) -> None:
    lists.set_archived(ids[:2], True)
    chats.delete(*ids[2:4])
    with database.write() as db:
        db.execute("UPDATE chats SET archived = archived + 1 WHERE title = '0'")
        db.execute("UPDATE chats SET deleted = deleted + 1 WHERE title = '2'")
    assert (titles(lists, ARCHIVE), titles(lists, TRASH)) == ("01", "23")


@pytest.mark.parametrize("place", [ALL, CHATS, PINNED, ARCHIVE, TRASH, folder_place("f")])
def test_no_list_reads_or_sorts_all_chats(
    lists: ChatLists, database: Database, place: Place
) -> None:
    asked: list[str] = []
    with database.read() as db:
        db.set_trace_callback(asked.append)
        lists.page(place, 0, 10)
        lists.count(place)
        db.set_trace_callback(None)
        assert len(asked) == 2
        for query in asked:
            (step,) = plan_of(db, query)
            assert "INDEX chats_" in step, "an index of its own, and in order"


def test_neither_start_nor_purge_reads_all_messages(database: Database) -> None:
    with database.read() as db:
        for query in (
            "SELECT id, writer FROM messages WHERE state = 'streaming'",
            "SELECT id FROM messages WHERE parent_id = 'x'",
            "SELECT id FROM chats WHERE deleted <= 1.0",
            "SELECT * FROM chats WHERE id >= 'a' AND id < 'b' AND deleted IS NULL LIMIT 2",
        ):
            assert all("SEARCH" in step or "USING" in step for step in plan_of(db, query)), query


def plan_of(db: sqlite3.Connection, query: str) -> list[str]:
    return [row["detail"] for row in db.execute(f"EXPLAIN QUERY PLAN {query}")]
