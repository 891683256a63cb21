"""The composition root: what is kept of chats goes with them, and how much may be kept."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from app import wiring
from app.store.branches import BranchStore
from app.store.folder import DataFolder


class Kept:
    """In place of the engine's states of chats."""

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

    monkeypatch.setattr("engines.llamacpp.resume.states.StateFolder", make)
    return made


class Clock:
    """The computer's clock, as far as the store and the trash look at it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)
        monkeypatch.setattr("time.time", lambda: self.now.timestamp())  # noqa: PLW0108 - as it is then
        clock = self

        class Now(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
                return clock.now

        monkeypatch.setattr("app.services.chats.trash.datetime", Now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def start(folder: DataFolder) -> set[str]:
    """Start and end; the titles of the chats that are here, those in the trash too."""
    wiring.open_core(folder).close()
    with closing(sqlite3.connect(folder.database)) as database:
        return {row[0] for row in database.execute("SELECT title FROM chats")}


def test_a_chat_deleted_long_ago_goes_with_its_states(kept: list[Kept], clock: Clock) -> None:
    folder = DataFolder.default()
    core = wiring.open_core(folder)
    ids = [core.chats.ask(None, text)[0].chat_id for text in ("old", "young", "kept")]
    core.chats.delete(ids[0])
    core.close()
    for day in range(1, 31):
        clock.now += timedelta(days=1)
        core = wiring.open_core(folder)
        assert (ids[0] in core.chats.deleted()) == (day < 30), f"the {day}th of 30 days"
        if day == 29:
            core.chats.delete(ids[1])
        core.close()
    kept.clear()
    core = wiring.open_core(folder)
    core.chats.undelete(ids[1])
    assert {chat.title for chat in core.chats.chats()} == {"young", "kept"}
    core.chats.undelete(ids[0])
    assert len(core.chats.chats()) == 2
    core.close()
    assert [states.forgotten for states in kept] == [[ids[1]]]
    assert kept[0].path.parent == folder.root


def test_a_clock_that_jumps_does_not_empty_the_trash(kept: list[Kept], clock: Clock) -> None:
    folder = DataFolder.default()
    core = wiring.open_core(folder)
    chat = core.chats.ask(None, "deleted")[0].chat_id
    taken_out = core.chats.ask(None, "a message of this one is taken out")[0]
    BranchStore(core.database).remove(taken_out, {})
    core.chats.delete(chat)
    core.close()
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
    core = wiring.open_core(folder)
    core.chats.delete(core.chats.ask(None, "deleted")[0].chat_id)
    core.close()
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
    core = wiring.open_core(folder)
    chat = core.chats.ask(None, "deleted")[0].chat_id
    core.chats.delete(chat)
    core.close()
    for _ in range(29):
        clock.now += timedelta(days=1)
        start(folder)
    core = wiring.open_core(folder)
    core.chats.undelete(chat)
    core.chats.delete(chat)
    core.close()
    clock.now += timedelta(days=100)
    assert start(folder) == {"deleted"}


def test_the_room_on_disk_is_that_of_the_settings(kept: list[Kept]) -> None:
    folder = DataFolder.default()
    core = wiring.open_core(folder)
    core.states.forget("chat")
    core.settings.write(core.settings.read().changed("kv_disk", 5))
    core.close()
    core = wiring.open_core(folder)
    core.states.forget("chat")
    core.close()
    assert [states.budget_bytes for states in kept] == [2_048_000_000, 5_000_000]


def test_settings_that_cannot_be_read_do_not_empty_the_disk(kept: list[Kept]) -> None:
    folder = DataFolder.default()
    folder.prepare()
    folder.settings.write_text("nonsense")
    core = wiring.open_core(folder)
    core.states.forget("chat")
    core.close()
    assert kept[0].budget_bytes == 2_048_000_000
