"""The composition root: purging deleted chats with their KV states, and the limit on disk."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.base.folder import DataFolder
from app.chats.history.store.branches import BranchStore
from app.wiring.app import open_app
from engines.llamacpp.resume import states as resume_states


class Kept:
    """A stand-in for the engine's stored states of chats."""

    def __init__(self, path: Path, budget_bytes: int) -> None:
        self.path = path
        self.budget_bytes = budget_bytes
        self.forgotten: list[str] = []

    def forget(self, chat: str) -> None:
        self.forgotten.append(chat)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[Kept]:
    made: list[Kept] = []

    def make(path: Path, budget_bytes: int) -> Kept:
        made.append(Kept(path, budget_bytes))
        return made[-1]

    monkeypatch.setattr(resume_states, "StateFolder", make)
    return made


class Clock:
    """The clock that the store and the trash read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        monkeypatch.setattr(time, "time", lambda: self.now.timestamp())  # noqa: PLW0108 - as it is then


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def start(folder: DataFolder) -> set[str]:
    """Start and close the app; return the titles of all chats, including those in the trash."""
    open_app(folder).close()
    with closing(sqlite3.connect(folder.database)) as database:
        return {row[0] for row in database.execute("SELECT title FROM chats")}


def test_a_chat_deleted_long_ago_goes_with_its_states(kept: list[Kept], clock: Clock) -> None:
    folder = DataFolder.default()
    app = open_app(folder)
    ids = [app.chats.ask(None, text)[0].chat_id for text in ("old", "young", "kept")]
    app.chats.delete(ids[0])
    app.close()
    for day in range(1, 31):
        clock.now += timedelta(days=1)
        app = open_app(folder)
        assert (ids[0] in app.chats.deleted()) == (day < 30), f"the {day}th of 30 days"
        if day == 29:
            app.chats.delete(ids[1])
        app.close()
    kept.clear()
    app = open_app(folder)
    app.chats.undelete(ids[1])
    assert {chat.title for chat in app.chats.chats()} == {"young", "kept"}
    app.chats.undelete(ids[0])
    assert len(app.chats.chats()) == 2
    app.close()
    assert [states.forgotten for states in kept] == [[ids[1]]]
    assert kept[0].path.parent == folder.root


def test_a_clock_that_jumps_does_not_empty_the_trash(kept: list[Kept], clock: Clock) -> None:
    folder = DataFolder.default()
    app = open_app(folder)
    chat = app.chats.ask(None, "deleted")[0].chat_id
    taken_out = app.chats.ask(None, "a message of this one is taken out")[0]
    BranchStore(app.database).remove(taken_out, {})
    app.chats.delete(chat)
    app.close()
    for years in (5, -5, 14, -30, 16):
        clock.now += timedelta(days=365 * years)
        assert "deleted" in start(folder)
        assert "deleted" in start(folder)
    with closing(sqlite3.connect(folder.database)) as database:
        removed = "SELECT count(*) FROM messages WHERE deleted IS NOT NULL"
        assert database.execute(removed).fetchone()[0] == 2


def test_what_was_deleted_while_the_clock_was_ahead_goes_as_well(
    kept: list[Kept], clock: Clock
) -> None:
    folder = DataFolder.default()
    clock.now += timedelta(days=3650)
    app = open_app(folder)
    app.chats.delete(app.chats.ask(None, "deleted")[0].chat_id)
    app.close()
    clock.now -= timedelta(days=3650)
    for _ in range(29):
        clock.now += timedelta(days=1)
        assert "deleted" in start(folder)
    clock.now += timedelta(days=1)
    assert start(folder) == set()


def test_a_chat_that_is_deleted_again_has_all_its_days_again(
    kept: list[Kept], clock: Clock
) -> None:
    folder = DataFolder.default()
    app = open_app(folder)
    chat = app.chats.ask(None, "deleted")[0].chat_id
    app.chats.delete(chat)
    app.close()
    for _ in range(29):
        clock.now += timedelta(days=1)
        start(folder)
    app = open_app(folder)
    app.chats.undelete(chat)
    app.chats.delete(chat)
    app.close()
    clock.now += timedelta(days=100)
    assert start(folder) == {"deleted"}


def test_the_room_on_disk_is_that_of_the_settings(kept: list[Kept]) -> None:
    folder = DataFolder.default()
    app = open_app(folder)
    app.forget_state("chat")
    app.settings.write(app.settings.read().changed("kv_disk", 5))
    app.close()
    app = open_app(folder)
    app.forget_state("chat")
    app.close()
    assert [states.budget_bytes for states in kept] == [2_048_000_000, 5_000_000]


def test_settings_that_cannot_be_read_do_not_empty_the_disk(kept: list[Kept]) -> None:
    folder = DataFolder.default()
    folder.prepare()
    folder.settings.write_text("nonsense")
    app = open_app(folder)
    app.forget_state("chat")
    app.close()
    assert kept[0].budget_bytes == 2_048_000_000
