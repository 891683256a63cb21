"""A scratch chat in a real window on the real starter model leaves nothing when it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASKED, WRITTEN = "xylotropolis", "quibberish"

# Asks in a scratch chat or in an ordinary one, writes a draft after it, and prints when both are
# done. With "close" on standard input it closes as a user does.
_PROGRAM = """
import sys
from PySide6.QtCore import QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication
from app.start import window
from app.window.values.launch_request import LaunchRequest
from app.base.folder import DataFolder
from app.window.pages.main_window import MainWindow

KIND, ASKED, WRITTEN, STAYS_MS = sys.argv[1:]

def say(text):
    print(text, flush=True)

def begin():
    main = next((w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)), None)
    if main is None or not main.is_built:
        QTimer.singleShot(20, begin)
        return
    page, generation = main.page, main.presenters.generation
    if KIND == "scratch":
        main.scratch.open()
        page = main.scratch.shown.page
        generation = main.scratch.shown.scratch.presenters.generation

    def ended(answer):
        say(answer.state + " " + answer.text.replace(chr(10), " "))
        page.composer.set_text(WRITTEN)
        QTimer.singleShot(int(STAYS_MS), lambda: say("ready"))

    generation.ended.connect(ended)
    page.ask(f"What is MTP? {ASKED}")

    def close():
        sys.stdin.readline()
        if KIND == "scratch":
            main.scratch.shown.close_now()
        main.close()

    main.listens = QSocketNotifier(0, QSocketNotifier.Type.Read, main)
    main.listens.activated.connect(close)

window._application()
QTimer.singleShot(0, begin)
sys.exit(window.open_window(DataFolder.default(), False, LaunchRequest()))
"""


class Running:
    """A running window, whose files are under `data` and `temporary`.

    Args:
        kind: The kind of the chat.
        data: The data folder.
        temporary: The folder for temporary files.
        stays_ms: How long it continues with an answer and a draft before it is ready to be ended.
    """

    def __init__(self, kind: str, data: Path, temporary: Path, stays_ms: int) -> None:
        self.folders = (data, temporary)
        temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, kind, ASKED, WRITTEN, str(stays_ms)],
            cwd=ROOT,
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(temporary)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.answer = ""

    def wait(self) -> None:
        """Wait until it has an answer and a draft."""
        assert self.process.stdout is not None
        state, _, self.answer = self.process.stdout.readline().strip().partition(" ")
        assert state == "complete"
        assert self.process.stdout.readline().strip() == "ready"

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def close(self) -> None:
        assert self.process.communicate("close\n", timeout=60)
        assert self.process.returncode == 0

    def files_with(self, words: str) -> list[str]:
        """Return the files that contain these words, in any encoding."""
        spelt = [words.encode(coding) for coding in ("utf-8", "utf-16-le", "utf-16-be")]
        return [
            path.name
            for folder in self.folders
            for path in folder.rglob("*")
            if path.is_file()
            if any(it in path.read_bytes() for it in spelt)
        ]

    @property
    def states(self) -> list[str]:
        """The KV caches on disk: they hold a chat as tokens, which no search for words finds."""
        return [path.name for path in (self.folders[0] / "states").rglob("*") if path.is_file()]


@pytest.fixture
def run(data_dir: Path, tmp_path: Path) -> Iterator[list[Running]]:
    running: list[Running] = []
    yield running
    for it in running:
        it.kill()


def start(
    run: list[Running], kind: str, data_dir: Path, tmp_path: Path, stays_ms: int = 0
) -> Running:
    run.append(Running(kind, data_dir, tmp_path / "temporary", stays_ms))
    run[-1].wait()
    return run[-1]


def test_a_scratch_chat_leaves_nothing_when_it_is_killed(
    run: list[Running], data_dir: Path, tmp_path: Path
) -> None:
    # Drafts are written and chats are read for the search while the window is open.
    window = start(run, "scratch", data_dir, tmp_path, stays_ms=1500)
    assert window.files_with(ASKED) == []
    window.kill()
    for words in (ASKED, WRITTEN, window.answer[:40], "scratch"):
        assert window.files_with(words) == []
    assert window.states == []


def test_a_scratch_chat_leaves_nothing_when_it_is_closed(
    run: list[Running], data_dir: Path, tmp_path: Path
) -> None:
    window = start(run, "scratch", data_dir, tmp_path)
    window.close()
    for words in (ASKED, WRITTEN, window.answer[:40], "scratch"):
        assert window.files_with(words) == []
    assert window.states == []


def test_an_ordinary_chat_does_leave_what_is_looked_for(
    run: list[Running], data_dir: Path, tmp_path: Path
) -> None:
    """Otherwise the tests above could not fail."""
    window = start(run, "chat", data_dir, tmp_path)
    window.close()
    assert window.files_with(ASKED)
    assert window.files_with(WRITTEN)
    assert window.files_with(window.answer[:40])
    assert window.states
