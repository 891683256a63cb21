"""Opening a database: migrations, newer and damaged files, a full or read-only disk."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.base import db as db_module
from app.base.db import Database
from app.base.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseNewer,
    DataFolderReadOnly,
    DiskFull,
)
from app.base.migrations import MIGRATIONS
from app.chats.history.store.chats import ChatStore
from app.chats.search.store.search_index import SearchIndex


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_a_new_database_is_in_wal_mode_and_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(db_module, "commits_reach_disk", True)
    with closing(Database(tmp_path / "chats.db")) as database, database.read() as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert db.execute("PRAGMA fullfsync").fetchone()[0] == 1
        assert db.execute("PRAGMA foreign_keys").fetchone()[0] == 1


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_every_older_version_comes_up_to_date(tmp_path: Path, version: int) -> None:
    path = tmp_path / "chats.db"
    with closing(sqlite3.connect(path)) as db:
        for step in MIGRATIONS[:version]:
            step(db)
        if version:
            db.execute(
                "INSERT INTO chats (id, title, created, updated) VALUES ('c', 'kept', 1.0, 1.0)"
            )
        db.execute(f"PRAGMA user_version={version}")
        db.commit()
    database = Database(path)
    found = ChatStore(database).chats()
    titles = [chat.title for chat in found]
    assert all(chat.mtp is None for chat in found), "an old chat's switch was never set"
    database.close()
    assert version_of(path) == len(MIGRATIONS)
    assert titles == (["kept"] if version else [])
    backups = list(tmp_path.glob("*.before-*"))
    assert len(backups) == (1 if 0 < version < len(MIGRATIONS) else 0)


def test_a_step_that_fails_leaves_the_old_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half (id TEXT)")
        db.execute("no such statement")

    path = tmp_path / "chats.db"
    Database(path).close()
    before = version_of(path)
    monkeypatch.setattr(db_module, "MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(sqlite3.OperationalError):
        Database(path)
    assert version_of(path) == before
    with closing(sqlite3.connect(path)) as db:
        assert not db.execute("SELECT * FROM sqlite_master WHERE name = 'half'").fetchall()


def test_a_newer_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE future (id TEXT)")
        db.execute("PRAGMA user_version=999")
        db.commit()
    before = path.read_bytes()
    with pytest.raises(DatabaseNewer) as caught:
        Database(path)
    assert "999" in caught.value.why
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"not a database at all" * 400, b"SQLite format 3\0garbage"])
def test_a_damaged_database_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "chats.db"
    path.write_bytes(content)
    with pytest.raises(DatabaseDamaged):
        Database(path)
    assert path.read_bytes() == content


def test_what_is_deleted_is_written_over_where_sqlite_would_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect

    def leaves_it_there(*words: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*words, **named)
        connection.execute("PRAGMA secure_delete=OFF")
        return connection

    monkeypatch.setattr(sqlite3, "connect", leaves_it_there)
    database = Database(tmp_path / "chats.db")
    chats = ChatStore(database)
    index = SearchIndex(tmp_path / "search.db", database)
    gone = chats.ask(None, "xylophonesecret")[0].chat_id
    chats.ask(None, "this is kept")
    while index.step():
        pass
    chats.delete(gone)
    chats.purge(gone)
    while index.step():
        pass
    index.close()
    database.close()
    for name in ("chats.db", "search.db"):
        assert b"this is kept" in (tmp_path / name).read_bytes()
        assert b"xylophonesecret" not in (tmp_path / name).read_bytes(), name


def test_a_full_disk_is_named_and_nothing_saved_is_lost(database: Database) -> None:
    chats = ChatStore(database)
    chats.ask(None, "kept")
    with database.read() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(DiskFull):
        chats.ask(None, "too much " * 10_000)
    assert [chat.title for chat in chats.chats()] == ["kept"]


def test_a_read_only_database_is_named(database: Database) -> None:
    with database.read() as db:
        db.execute("PRAGMA query_only=ON")
    with pytest.raises(DataFolderReadOnly):
        ChatStore(database).ask(None, "no")


def test_a_lock_that_never_goes_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(db_module, "BUSY_S", 0.05)
    database = Database(tmp_path / "chats.db")
    with closing(sqlite3.connect(tmp_path / "chats.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseBusy):
            ChatStore(database).ask(None, "waits")
        other.rollback()
    database.close()


def test_what_a_block_did_is_undone_when_it_raises(database: Database) -> None:
    def fail_half_way() -> None:
        with database.write() as db:
            db.execute("INSERT INTO chats (id, title, created, updated) VALUES ('c', 't', 1, 1)")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert ChatStore(database).chats() == []


def test_reading_does_not_wait_for_a_writer(database: Database) -> None:
    chats = ChatStore(database)
    chats.ask(None, "there")
    seen: list[str] = []
    with database.write() as db:
        db.execute("UPDATE chats SET title = 'changed'")
        reader = threading.Thread(target=lambda: seen.extend(c.title for c in chats.chats()))
        reader.start()
        reader.join(timeout=60)
    assert seen == ["there"]


def test_a_thread_that_has_ended_leaves_no_connection(tmp_path: Path) -> None:
    """A server's threads come and go; a connection left open by each would keep its files open."""
    with closing(Database(tmp_path / "chats.db")) as database:

        def read() -> None:
            with database.read() as db:
                db.execute("SELECT count(*) FROM chats").fetchone()

        for _ in range(5):
            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
        files = [it.path for it in psutil.Process().open_files()]
        assert sum(it.endswith("chats.db") for it in files) <= 3
        read()
