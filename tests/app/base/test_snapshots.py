"""Copies of the database: written completely or not at all, limited in number, and restored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.errors import DataFolderReadOnly, SnapshotUnusable
from app.base.migrations import MIGRATIONS
from app.base.snapshots import Snapshots
from app.chats.history.store.chats import ChatStore
from app.chats.search.store.search import Search
from app.chats.search.store.search_index import SearchIndex
from engines.cancel import CancelToken

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def snapshots(tmp_path: Path, database: Database) -> Snapshots:
    return Snapshots(tmp_path / "snapshots", tmp_path / "chats.db")


def take(snapshots: Snapshots, day: int = 0, keep: int = 7) -> Path:
    taken = snapshots.take(NOON + timedelta(days=day), keep, CancelToken())
    assert taken is not None
    return taken


def test_a_copy_holds_what_was_there_and_is_found(snapshots: Snapshots, chats: ChatStore) -> None:
    assert snapshots.list() == []
    chats.ask(None, "kept")
    path = take(snapshots)
    chats.ask(None, "later")
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT title FROM chats").fetchall() == [("kept",)]
    (found,) = snapshots.list()
    assert (found.path, found.size) == (path, path.stat().st_size)
    assert [file.name for file in path.parent.iterdir()] == ["chats-2026-03-01.db"]


def test_there_is_one_a_day_and_so_many_are_kept(snapshots: Snapshots) -> None:
    assert snapshots.is_due(NOON)
    for day in range(5):
        take(snapshots, day, keep=3)
    assert not snapshots.is_due(NOON + timedelta(days=4))
    assert snapshots.is_due(NOON + timedelta(days=5))
    names = sorted(found.path.name for found in snapshots.list())
    assert names == [f"chats-2026-03-0{day}.db" for day in (3, 4, 5)]


def test_a_clock_that_was_ahead_does_not_crowd_out_what_is_taken_now(
    snapshots: Snapshots,
) -> None:
    for day in (700, 701, 702, 0, 1):
        take(snapshots, day, keep=3)
    names = sorted(found.path.name for found in snapshots.list())
    assert names == ["chats-2026-03-01.db", "chats-2026-03-02.db", "chats-2028-02-01.db"]


def lose(database: Database, titles: str) -> None:
    """Delete chats behind the app's back, as a fault would."""
    with database.write() as db:
        db.execute("DELETE FROM chats WHERE title GLOB ?", (titles,))


def test_copies_of_what_was_lost_stay_however_many_come_after_them(
    snapshots: Snapshots, chats: ChatStore, database: Database
) -> None:
    for number in range(10):
        chats.ask(None, f"chat {number}")
    for day in range(3):
        take(snapshots, day, keep=3)
    lose(database, "chat [1-9]")
    for day in range(3, 20):
        take(snapshots, day, keep=3)
    names = sorted(found.path.name for found in snapshots.list())
    good = [f"chats-2026-03-0{day}.db" for day in (1, 2, 3)]
    assert names == [*good, *(f"chats-2026-03-{day}.db" for day in (18, 19, 20))]
    for number in range(1, 6):
        chats.ask(None, f"chat {number}")
    take(snapshots, 20, keep=3)
    names = sorted(found.path.name for found in snapshots.list())
    assert names == [f"chats-2026-03-{day}.db" for day in (19, 20, 21)], "what is as good is enough"


def test_the_copy_of_a_day_stays_when_the_chats_are_lost_on_it(
    snapshots: Snapshots, chats: ChatStore, database: Database
) -> None:
    chats.ask(None, "good")
    path = take(snapshots)
    before = path.read_bytes()
    lose(database, "*")
    assert snapshots.take(NOON, 3, CancelToken()) is None
    assert [file.read_bytes() for file in path.parent.iterdir()] == [before]


def test_what_a_crash_has_left_goes_with_the_next_copy(snapshots: Snapshots) -> None:
    folder = take(snapshots).parent
    for name in ("chats-2026-02-01.part", "chats-2026-02-01.part-journal"):
        (folder / name).write_bytes(b"half")
    take(snapshots, 1)
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["chats-2026-03-01.db", "chats-2026-03-02.db"]


def test_a_copy_that_is_cancelled_leaves_nothing(database: Database, tmp_path: Path) -> None:
    snapshots = Snapshots(tmp_path / "snapshots", tmp_path / "chats.db", check_every=1)
    cancel = CancelToken()
    cancel.cancel()
    assert snapshots.take(NOON, 7, cancel) is None
    assert list((tmp_path / "snapshots").iterdir()) == []


def test_what_cannot_be_written_is_said(tmp_path: Path, database: Database) -> None:
    (tmp_path / "snapshots").write_text("a file is in the way")
    with pytest.raises(DataFolderReadOnly):
        take(Snapshots(tmp_path / "snapshots", tmp_path / "chats.db"))


def test_a_copy_is_put_back_and_what_was_there_is_kept(
    snapshots: Snapshots, chats: ChatStore, database: Database, tmp_path: Path
) -> None:
    index = SearchIndex(tmp_path / "search.db", database)
    search = Search(index, database)
    gone = chats.ask(None, "zero")[0].chat_id
    chats.delete(gone)
    chats.purge(gone)
    chats.ask(None, "one")
    path = take(snapshots)
    chats.ask(None, "two")
    while index.step():
        pass
    kept = snapshots.restore(path, NOON)
    assert [chat.title for chat in chats.chats()] == ["one"], "over the connection that is open"
    while index.step():
        pass
    assert [hit.chat.title for hit in search.find("one", 9)] == ["one"]
    assert search.find("two", 9) == []
    assert kept is not None
    snapshots.restore(kept, NOON + timedelta(minutes=1))
    assert [chat.title for chat in chats.chats()] == ["two", "one"]
    with database.read() as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    index.close()


def test_a_copy_of_an_older_hearth_comes_up_to_date(
    snapshots: Snapshots, chats: ChatStore, tmp_path: Path
) -> None:
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as db:
        for step in MIGRATIONS[:3]:
            step(db)
        db.execute("INSERT INTO chats (id, title, created, updated) VALUES ('c', 'old', 1, 1)")
        db.execute("PRAGMA user_version=3")
        db.commit()
    snapshots.restore(old, NOON)
    assert [chat.title for chat in chats.chats()] == ["old"]


def test_what_is_no_sound_copy_changes_nothing(
    snapshots: Snapshots, chats: ChatStore, tmp_path: Path
) -> None:
    chats.ask(None, "here")
    newer = take(snapshots)
    with closing(sqlite3.connect(newer)) as db:
        db.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    torn = take(snapshots, 1)
    whole = torn.read_bytes()
    torn.write_bytes(whole[: len(whole) // 2])
    text, other = tmp_path / "text.db", tmp_path / "other.db"
    text.write_text("no database, but long enough to be looked at " * 40)
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE x (y)")
    for path in (newer, torn, text, other, tmp_path / "nothing.db", tmp_path):
        with pytest.raises(SnapshotUnusable):
            snapshots.restore(path, NOON)
    assert [chat.title for chat in chats.chats()] == ["here"]
    assert not list((tmp_path / "snapshots").glob("before-*"))
