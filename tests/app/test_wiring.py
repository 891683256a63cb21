"""The composition root: what is kept of chats goes with them, and how much may be kept."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from app import wiring
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


def test_a_chat_deleted_long_ago_goes_with_its_states(kept: list[Kept]) -> None:
    folder = DataFolder.default()
    core = wiring.open_core(folder)
    ids = [core.chats.ask(None, text)[0].chat_id for text in ("old", "young", "kept")]
    for chat_id in ids[:2]:
        core.chats.delete(chat_id)
    core.close()
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute(
            "UPDATE chats SET deleted = deleted - ? WHERE id = ?", (31 * 24 * 3600, ids[0])
        )
        database.commit()
    core = wiring.open_core(folder)
    core.chats.undelete(ids[1])
    assert {chat.title for chat in core.chats.chats()} == {"young", "kept"}
    core.chats.undelete(ids[0])
    assert len(core.chats.chats()) == 2
    core.close()
    assert [sorted(states.forgotten) for states in kept] == [sorted(ids[:2])]
    assert kept[0].path.parent == folder.root


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
