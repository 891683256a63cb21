"""Saving drafts while they are written."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.db import Database
from app.base.errors import DiskFull
from app.chats.history.presenters.drafts import Drafts
from app.chats.history.store.drafts import DraftStore
from app.kit.tasks.tasks import Tasks
from tests.support.services import Services

WRITES = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from app.chats.history.presenters.drafts import Drafts
from app.kit.tasks.tasks import Tasks
from app.base.db import Database
from app.chats.history.store.drafts import DraftStore
app = QCoreApplication([])
drafts = Drafts(DraftStore(Database(Path(sys.argv[1]))), Tasks(), save_ms=100)
words = iter(range(10**9))
timer = QTimer()
def write():
    word = next(words)
    drafts.set_text(None, f"word {word}")
    print(word, flush=True)
timer.timeout.connect(write)
timer.start(5)
app.exec()
"""


@pytest.fixture
def tasks() -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    tasks.close()


@pytest.fixture
def store(services: Services) -> DraftStore:
    return DraftStore(services.database)


@pytest.fixture
def drafts(store: DraftStore, tasks: Tasks, qtbot: QtBot) -> Drafts:
    return Drafts(store, tasks, save_ms=50)


def test_a_draft_is_known_at_once_and_saved_soon(
    drafts: Drafts, store: DraftStore, services: Services, qtbot: QtBot
) -> None:
    chat_id = services.chats.ask(None, "Hello")[0].chat_id
    for text in ("h", "ha", "half"):
        drafts.set_text(chat_id, text)
        drafts.set_text(None, f"new {text}")
    assert (drafts.of(chat_id), drafts.of(None)) == ("half", "new half")
    assert store.of(chat_id) == ""
    qtbot.waitUntil(lambda: (store.of(chat_id), store.of(None)) == ("half", "new half"))


def test_a_draft_goes_with_the_chat_it_begins(
    drafts: Drafts, store: DraftStore, services: Services, qtbot: QtBot
) -> None:
    drafts.set_text(None, "written meanwhile")
    chat_id = services.chats.ask(None, "Hello")[0].chat_id
    drafts.adopt(chat_id)
    assert (drafts.of(None), drafts.of(chat_id)) == ("", "written meanwhile")
    qtbot.waitUntil(lambda: store.of(chat_id) == "written meanwhile")
    assert store.of(None) == ""


def test_the_last_words_are_saved_at_the_end(
    drafts: Drafts, store: DraftStore, tasks: Tasks
) -> None:
    drafts.set_text(None, "one")
    drafts.set_text(None, "one and two")
    tasks.close()
    assert store.of(None) == "one and two"


def test_what_is_forgotten_is_not_written(drafts: Drafts, store: DraftStore, tasks: Tasks) -> None:
    drafts.set_text(None, "secret")
    drafts.forget()
    tasks.close()
    assert store.of(None) == ""


def test_what_cannot_be_saved_is_said_and_still_holds(
    drafts: Drafts, store: DraftStore, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    monkeypatch.setattr(store, "save", full)
    with qtbot.waitSignal(drafts.failed):
        drafts.set_text(None, "half")
    assert drafts.of(None) == "half"


def test_what_could_not_be_saved_is_saved_at_the_end(
    drafts: Drafts,
    store: DraftStore,
    tasks: Tasks,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    with monkeypatch.context() as patch, qtbot.waitSignal(drafts.failed):
        patch.setattr(store, "save", full)
        drafts.set_text(None, "half")
    tasks.close()
    assert store.of(None) == "half"


def test_a_draft_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    process = subprocess.Popen(
        [sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    written = -1
    for line in process.stdout:
        written = int(line)
        # Saving may lag behind, but not until the writing ends.
        if (written >= 60 and saved_word(path) >= 10) or written >= 2_000:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    rest = process.stdout.read().split()
    process.stdout.close()
    assert 10 <= saved_word(path) <= int(rest[-1] if rest else written) + 1


def saved_word(path: Path) -> int:
    """Return the number of the last saved word; -1 before the first."""
    with closing(Database(path)) as database:
        saved = DraftStore(database).of(None)
    return int(saved.removeprefix("word ") or -1)
