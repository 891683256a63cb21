"""Lists of chats: their places, pages and counts, and moving many chats at once."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from app.base.db import Database
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore, new_folder
from app.chats.history.store.waiting import WaitingStore
from app.chats.history.values.conversation import MessageState
from app.chats.history.values.places import ALL, ARCHIVE, CHATS, PINNED, TRASH, Place, folder_place


@pytest.fixture
def lists(database: Database) -> ChatLists:
    return ChatLists(database)


@pytest.fixture
def folders(database: Database) -> FolderStore:
    return FolderStore(database)


@pytest.fixture
def ids(chats: ChatStore) -> list[str]:
    """Return the ids of six chats, "0" to "5"; "5" was used last."""
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


def test_the_mark_of_a_chat_says_how_it_stands(
    chats: ChatStore, lists: ChatLists, database: Database, ids: list[str]
) -> None:
    """The marks are listed from the chat used last."""
    states: tuple[MessageState, ...] = ("complete", "failed", "interrupted")
    for chat_id, state in zip(ids, states, strict=False):
        chats.save_answer(replace(chats.messages(chat_id)[-1], state=state))
    for chat_id in ids[3:]:
        chats.save_answer(replace(chats.messages(chat_id)[-1], state="stopped"))
    chats.answer_again(ids[3], chats.messages(ids[3])[-1].id)
    BranchStore(database).show(ids[3], chats.messages(ids[3])[1].id)
    waiting = WaitingStore(database)
    for chat_id in (ids[3], ids[4], ids[5]):
        waiting.add(chat_id, "More", "{}")
    lists.set_unread(ids[4], True)
    marks = {chat.title: chat.mark for chat in lists.page(ALL, 0, 10)}
    assert marks == {
        "0": "",
        "1": "failed",
        "2": "interrupted",
        "3": "writing",
        "4": "unread",
        "5": "waiting",
    }
    assert list(lists.marks(ALL).items()) == [
        (mark, 1) for mark in ("writing", "failed", "interrupted", "unread", "waiting")
    ]
    lists.set_unread(ids[4], False)
    assert list(lists.marks(ALL).items())[-1] == ("waiting", 2)
    found = lists.find(ids[4])
    assert found is not None
    assert (found.mark, found.unread) == ("waiting", False)


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
            first, *of_each = plan_of(db, query)
            assert "INDEX chats_" in first, "an index of its own, and in order"
            assert all("SEARCH" in step or "SUBQUERY" in step for step in of_each), of_each


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
