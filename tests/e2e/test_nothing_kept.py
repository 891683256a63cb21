"""A full disk, and a folder without write permission: the existing data stays usable."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.db import Database
from app.base.folder import DataFolder
from app.base.migrations import MIGRATIONS
from app.chats.answers.presenters.generation import Generation
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from app.kit.tasks.tasks import Tasks
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from app.wiring.app import open_app
from tests.e2e.conftest import ROOT, Hearth, environment, value

_WINDOW = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel
from app.start import window
from app.window.values.launch_request import LaunchRequest
from app.base.folder import DataFolder
from app.window.pages.main_window import MainWindow
from app.kit.widgets.toast import Toast

def look():
    main = next((it for it in app.topLevelWidgets() if isinstance(it, MainWindow)), None)
    toasts = main.findChildren(Toast) if main is not None and main.is_built else []
    if not toasts:
        return QTimer.singleShot(50, look)
    print(*(label.text() for it in toasts for label in it.findChildren(QLabel)))
    print(*(chat.title for chat in main.presenters.chats.page(ALL, 0, 99)))
    main.close()

from app.chats.history.values.places import ALL
app = window._application()
QTimer.singleShot(0, look)
sys.exit(window.open_window(DataFolder.default(), True, LaunchRequest()))
"""


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


def unmount(place: Path) -> None:
    subprocess.run(["umount", "--lazy", str(place)], check=True, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a small disk for the test."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        mount("-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place))
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk can be mounted here: {error}")
    yield place
    unmount(place)


@pytest.fixture
def data_dir(disk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a data folder with twenty chats, which have been indexed for the search."""
    folder = DataFolder(disk / "data")
    monkeypatch.setenv("HEARTH_DATA_DIR", str(folder.root))
    app = open_app(folder)
    for number in range(20):
        app.chats.ask(None, f"chat {number} " + "needle " * 200)
    with app.database.write() as db:
        db.execute("UPDATE messages SET state = 'complete', writer = NULL")
    while app.index.step():
        pass
    app.close()
    return folder.root


def fill(disk: Path) -> None:
    with (disk / "other").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 512)
        except OSError:
            pass
    assert os.statvfs(disk).f_bavail == 0


def forbid(disk: Path) -> None:
    mount("-o", "remount,ro", str(disk))


def ids(hearth: Hearth) -> list[str]:
    return [chat["id"] for chat in value(hearth("chats", "list", "--json"))]


@pytest.mark.parametrize(
    ("harm", "what"), [(fill, "The disk is full."), (forbid, "Hearth cannot write to")]
)
def test_what_is_there_can_be_read_searched_and_exported(
    hearth: Hearth, data_dir: Path, disk: Path, tmp_path: Path,
    harm: Callable[[Path], None], what: str,
) -> None:  # fmt: skip
    harm(disk)
    listed = hearth("chats", "list")
    assert (listed.returncode, len(listed.stdout.splitlines())) == (0, 20)
    assert listed.stderr.startswith(what)
    assert "Chats can still be read and exported." in listed.stderr
    first = ids(hearth)[0]
    out = tmp_path / "out.md"
    assert hearth("chats", "export", first, "--output", str(out)).returncode == 0
    assert "needle" in out.read_text()
    found = hearth("chats", "search", "needle", "--json")
    assert json.loads(found.stdout)
    for words in (("chats", "show", first), ("models", "list"), ("ask", "Hello")):
        done = hearth(*words)
        assert (done.returncode, bool(done.stdout)) == (0, True), (words, done.stderr)
    assert len(ids(hearth)) == 20


def test_a_chat_can_be_deleted_on_a_full_disk(hearth: Hearth, data_dir: Path, disk: Path) -> None:
    states = data_dir / "states"
    states.mkdir()
    (states / "x.state").write_bytes(b"can be computed again")
    (data_dir / "snapshots").mkdir()
    (data_dir / "snapshots" / "chats-2026-01-01.db").write_bytes(b"the user's")
    fill(disk)
    there = ids(hearth)
    for chat_id in there[:3]:
        done = hearth("chats", "rm", chat_id)
        assert done.returncode == 0, done.stderr
    assert ids(hearth) == there[3:]
    assert (data_dir / "snapshots" / "chats-2026-01-01.db").read_bytes() == b"the user's"


def test_an_answer_that_ends_on_a_full_disk_is_saved_once_there_is_room(
    qtbot: QtBot, data_dir: Path, disk: Path
) -> None:
    app, tasks = open_app(DataFolder(data_dir)), Tasks()
    settings = SettingsService(SettingsFile(data_dir / "settings.json"))
    generation = Generation(app.chats, app.answers, settings, tasks, retry_ms=20)
    ended, saved = list[StoredMessage](), list[StoredMessage]()
    refused: list[Exception] = []
    generation.begun.connect(lambda _: fill(disk))
    generation.ended.connect(ended.append)
    generation.saved.connect(saved.append)
    generation.ask(None, "Hello", AnswerOptions(), lambda _: None, refused.append)
    qtbot.waitUntil(lambda: bool(ended or refused))
    assert ended[0].failure is not None
    assert ended[0].failure.code == "disk_full"
    assert app.chats.path(ended[0].chat_id)[-1].text == ""
    (disk / "other").unlink()
    qtbot.waitUntil(lambda: bool(saved))
    stored = app.chats.path(ended[0].chat_id)[-1]
    assert stored.text
    assert (stored.text, stored.state) == (ended[0].text, "complete")
    tasks.close()
    app.close()


def test_what_cannot_be_done_is_said_and_nothing_changes(
    hearth: Hearth, data_dir: Path, disk: Path
) -> None:
    forbid(disk)
    before = (data_dir / "chats.db").read_bytes()
    first = ids(hearth)[0]
    for words in (("chats", "rm", first), ("settings", "set", "kv_disk", "9")):
        done = hearth(*words, "--json")
        assert done.returncode == 1
        assert json.loads(done.stdout)["error"]["code"] == "data_folder_read_only"
    assert (data_dir / "chats.db").read_bytes() == before


def test_with_no_room_at_all_a_chat_that_cannot_be_deleted_stays(
    hearth: Hearth, data_dir: Path, disk: Path
) -> None:
    (data_dir / "search.db").unlink()
    fill(disk)
    there = ids(hearth)
    done = hearth("chats", "rm", there[0], "--json")
    assert json.loads(done.stdout)["error"]["code"] == "disk_full"
    assert ids(hearth) == there


@pytest.mark.parametrize("index", ["with -shm", "without -shm"])
def test_what_a_crash_has_left_beside_the_database_is_read_too(
    hearth: Hearth, data_dir: Path, disk: Path, index: str
) -> None:
    crash = (
        "import os, sys; from pathlib import Path; from app.base.db import Database\n"
        "from app.chats.history.store.chats import ChatStore\n"
        "ChatStore(Database(Path(sys.argv[1]))).ask(None, 'only beside it'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", crash, str(data_dir / "chats.db")], check=True, cwd=ROOT)
    if index == "without -shm":
        (data_dir / "chats.db-shm").unlink()
    forbid(disk)
    assert "only beside it" in hearth("chats", "list").stdout


def test_chats_of_an_older_hearth_are_read_from_a_copy(
    hearth: Hearth, data_dir: Path, disk: Path
) -> None:
    (data_dir / "chats.db").unlink()
    with closing(sqlite3.connect(data_dir / "chats.db")) as db:
        for step in MIGRATIONS[:5]:
            step(db)
        db.execute("INSERT INTO chats (id, title, created, updated) VALUES ('c', 'old', 1, 1)")
        db.execute("PRAGMA user_version=5")
        db.commit()
    forbid(disk)
    assert "old" in hearth("chats", "list").stdout


@pytest.mark.parametrize("harm", [fill, forbid])
def test_the_window_opens_and_says_what_cannot_be_done(
    data_dir: Path, disk: Path, harm: Callable[[Path], None]
) -> None:
    harm(disk)
    done = subprocess.run(
        [sys.executable, "-c", _WINDOW],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=100,
        cwd=ROOT,
        env=environment(data_dir) | {"QT_QPA_PLATFORM": "offscreen"},
    )
    assert done.returncode == 0, done.stderr
    assert "Chats can still be read and exported." in done.stdout
    assert done.stdout.count("chat ") == 20


@pytest.mark.parametrize("end", ["", "-wal"])
def test_the_file_that_cannot_be_written_to_is_named(data_dir: Path, end: str) -> None:
    path = data_dir / "chats.db"
    writer = Database(path)
    ChatStore(writer).ask(None, "begins the file beside it")
    place = data_dir / f"chats.db{end}"
    mount("--bind", str(place), str(place))
    mount("-o", "remount,ro,bind", str(place))
    try:
        database = Database(path)
        hindered = database.write_error
        titles = [chat.title for chat in ChatStore(database).chats()]
        database.close()
    finally:
        unmount(place)
        writer.close()
    assert hindered is not None
    assert hindered.why.endswith(f" {place}.")
    assert titles[0] == "begins the file beside it"
