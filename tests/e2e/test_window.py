"""The window as a separate process: one per folder, real answers, killed and started again."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.suite import sampled
from tests.support.unfit_llama import unfit_llama
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]

# Started as `python -c`: opens the window offscreen, acts in it, and prints a line afterwards.
_PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.start import running, window
from app.base.folder import DataFolder
from app.window.pages.main_window import MainWindow
from app.window.pages.single_instance import SingleInstance
from app.window.values.launch_request import LaunchRequest
from engines.errors import UserError

def say(text):
    print(text, flush=True)

def begin():
    main = next((w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)), None)
    if main is None or not main.is_built:
        QTimer.singleShot(20, begin)
        return
    page = main.page
    {body}

made = []

def noted(folder, request):
    made.append(SingleInstance(folder, request))
    return made[0]

running.SingleInstance = noted
window._application()
QTimer.singleShot(0, begin)
try:
    code = window.open_window(DataFolder.default(), False, LaunchRequest())
except UserError as error:
    say(f"{{error.code}}: {{error.what}}")
    code = 1
sys.exit(code)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(data_dir: Path) -> Iterator[Start]:
    """Return a function that starts a window and runs `body` in it; it is killed at the end."""
    running: list[subprocess.Popen[str]] = []

    def run(body: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(body=body.replace("\n", "\n    "))],
            cwd=ROOT,
            env={**os.environ, "HEARTH_DATA_DIR": str(data_dir), "QT_QPA_PLATFORM": "offscreen"},
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield run
    for process in running:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def answers(data_dir: Path) -> list[tuple[str, str]]:
    """Return state and text of each answer in the database."""
    with closing(sqlite3.connect(data_dir / "chats.db")) as database:
        return database.execute(
            "SELECT state, text FROM messages WHERE role = 'assistant' ORDER BY rowid"
        ).fetchall()


def until_saved(data_dir: Path) -> None:
    """Wait until some words of the answer are on the disk."""
    until(lambda: any(text for _, text in answers(data_dir)))


ASK = """
presenters = main.presenters
presenters.generation.ended.connect(lambda answer: (say(answer.state), main.close()))
page.ask("What can you do?")
"""


def test_the_starter_answers_in_the_window(start: Start, data_dir: Path) -> None:
    process = start(ASK)
    assert line(process) == "complete"
    assert process.wait(60) == 0
    ((state, text),) = answers(data_dir)
    assert state == "complete"
    assert text.strip()
    assert (data_dir / "window.json").exists()
    assert not (data_dir / "window.lock").exists()


READ = """
from app.chats.history.values.places import CHATS
from app.chats.transcript.pages.transcript import Transcript

def read():
    shown = page.findChild(Transcript).views
    if len(shown) < 2:
        QTimer.singleShot(20, read)
        return
    say(f"{len(shown)} messages are shown")
    page.ask("And what else?")

def ended(answer):
    say(answer.failure.why)
    main.close()

main.presenters.generation.ended.connect(ended)
page.open_chat(main.presenters.chats.page(CHATS, 0, 1)[0].id)
read()
"""


@pytest.mark.parametrize("how", sampled(["absent", "asks for more"], ["absent"]))
def test_without_a_llama_cpp_that_fits_chats_are_read_and_an_answer_fails_with_words(
    how: str, start: Start, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = start(ASK)
    assert line(first) == "complete"
    assert first.wait(60) == 0
    monkeypatch.setenv("PYTHONPATH", unfit_llama(tmp_path, how))
    process = start(READ)
    assert line(process) == "2 messages are shown"
    assert ("not installed" if how == "absent" else "differs") in line(process)
    assert process.wait(60) == 0
    assert [state for state, _ in answers(data_dir)] == ["complete", "failed"]


def test_a_second_start_brings_the_first_to_the_front(start: Start) -> None:
    first = start(
        """
made[0].requested.connect(lambda _: say("in front"))
say("open")
"""
    )
    assert line(first) == "open"
    second = start("say('must not open')")
    assert line(second) == "already_open: Hearth is already open."
    assert second.wait(60) == 1
    assert line(first) == "in front"
    first.send_signal(signal.SIGKILL)
    first.wait()
    third = start("say('open'); main.close()")
    assert line(third) == "open"
    assert third.wait(60) == 0


SLOW = """
main.presenters.settings.set("max_tokens", 0)
seen = []
def text(_, piece):
    seen.append(piece)
    QTimer.singleShot(400, lambda: say("streaming"))
main.presenters.generation.text.connect(text)
from app.runtime.services.lease import Lease
chat = Lease.chat
def slowly(lease, request, cancel, **how):
    import time
    for event in chat(lease, request, cancel, **how):
        yield event
        time.sleep(0.2)
Lease.chat = slowly
page.ask("What can you do?")
"""


def test_a_killed_answer_is_there_and_can_be_continued(start: Start, data_dir: Path) -> None:
    process = start(SLOW)
    assert line(process) == "streaming"
    until_saved(data_dir)
    process.send_signal(signal.SIGKILL)
    process.wait()
    ((state, before),) = answers(data_dir)
    assert state == "streaming"
    assert before
    again = start(
        """
from app.chats.history.values.places import ALL
(chat,) = main.presenters.chats.page(ALL, 0, 9)
main.open_chat(chat.id)
answer = page.transcript.last().message
say(answer.state)
main.presenters.generation.ended.connect(lambda ended: (say(ended.state), main.close()))
page.answers.do("go_on")
"""
    )
    assert line(again) == "interrupted"
    assert line(again) == "complete"
    assert again.wait(60) == 0
    ((state, after),) = answers(data_dir)
    assert state == "complete"
    assert after.startswith(before)
    assert len(after) > len(before)


def test_closing_in_the_middle_keeps_what_was_answered(start: Start, data_dir: Path) -> None:
    process = start(SLOW + "main.presenters.generation.text.connect(lambda *_: main.close())\n")
    assert process.wait(60) == 0
    ((state, text),) = answers(data_dir)
    assert state == "stopped"
    assert text


@pytest.mark.skipif(os.name == "nt", reason="Windows asks in another way")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_asked_to_end_it_keeps_what_was_answered(start: Start, data_dir: Path, number: str) -> None:
    process = start(SLOW)
    assert line(process) == "streaming"
    process.send_signal(getattr(signal, number))
    assert process.wait(60) == 0
    ((state, text),) = answers(data_dir)
    assert state == "stopped"
    assert text
    assert (data_dir / "window.json").exists()
    assert not (data_dir / "window.lock").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows asks in another way")
def test_an_idle_window_ends_when_it_is_asked_to_and_keeps_what_was_written(start: Start) -> None:
    process = start("page.composer.set_text('half a message'); say('open')")
    assert line(process) == "open"
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0
    again = start("say(page.composer.text); main.close()")
    assert line(again) == "half a message"
    assert again.wait(60) == 0


def test_a_data_folder_that_cannot_be_used_is_explained_in_a_window(
    start: Start, data_dir: Path
) -> None:
    data_dir.parent.mkdir(exist_ok=True)
    data_dir.write_text("a file stands where the folder should be")
    environment = {**os.environ, "HEARTH_DATA_DIR": str(data_dir), "QT_QPA_PLATFORM": "offscreen"}
    program = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel
from app.start import window
from app.cli.main import main
window._application()
def look():
    dialog = QApplication.activeModalWidget()
    if dialog is None:
        QTimer.singleShot(50, look)
        return
    print("|".join(label.text() for label in dialog.findChildren(QLabel) if label.text()))
    dialog.accept()
QTimer.singleShot(300, look)
sys.exit(main([]))
"""
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**environment, "DISPLAY": ":none"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 1
    assert "Hearth cannot write to" in ended.stdout
    assert "Traceback" not in ended.stderr
