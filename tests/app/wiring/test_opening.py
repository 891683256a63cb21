"""Opening the data folder after the chats were lost or damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPushButton

from app.base.db import Database
from app.base.errors import DatabaseDamaged
from app.base.folder import DataFolder
from app.base.snapshots import Snapshots
from app.chats.history.store.chats import ChatStore
from app.cli.main import main
from app.start import running
from app.start.window import open_window
from app.window.values.launch_request import LaunchRequest
from app.wiring.opening import open_data
from engines.cancel import CancelToken

COPY = "chats-2026-03-01.db"
NEWER = "chats-2026-03-02.db"


def empty(path: Path) -> None:
    path.write_bytes(b"")


def blank(path: Path) -> None:
    """Make an SQLite file that contains nothing."""
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")
    assert path.stat().st_size


def scribble(path: Path) -> None:
    path.write_bytes(b"no database any more" * 1000)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").write_text("of somebody's")


def put_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def put_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "not there" / "chats.db")


HARMS = [
    empty, blank, Path.unlink, scribble, cut, put_folder, put_link,
    pytest.param(put_pipe, marks=pytest.mark.skipif(os.name == "nt", reason="there are none")),
]  # fmt: skip


@pytest.fixture
def folder(data_dir: Path) -> DataFolder:
    """Return a folder with a chat, a copy of it, and a newer copy that is unusable."""
    folder = DataFolder(data_dir)
    folder.prepare()
    database = Database(folder.database)
    ChatStore(database).ask(None, "kept")
    Snapshots(folder.snapshots, folder.database).take(
        datetime(2026, 3, 1, tzinfo=UTC), 7, CancelToken()
    )
    database.close()
    (folder.snapshots / NEWER).write_bytes(b"")
    return folder


def titles(folder: DataFolder) -> list[str]:
    opened = open_data(folder)
    found = [chat.title for chat in opened.chats.chats()]
    opened.database.close()
    return found


@pytest.mark.parametrize("harm", HARMS)
def test_the_last_copy_is_offered_and_can_be_put_back(
    folder: DataFolder, harm: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    harm(folder.database)
    for _ in range(2):
        with pytest.raises(DatabaseDamaged) as caught:
            open_data(folder)
        assert caught.value.copy == COPY
        assert f"hearth chats restore {COPY}" in caught.value.terminal
    assert main(["chats", "list"]) == 1
    assert COPY in capsys.readouterr().err
    assert main(["chats", "restore", "list"]) == 0
    assert COPY in capsys.readouterr().out
    assert main(["chats", "restore", COPY]) == 0
    assert titles(folder) == ["kept"]


def test_an_empty_database_is_told_before_there_is_a_copy(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = DataFolder(data_dir)
    open_data(folder).database.close()
    empty(folder.database)
    assert titles(folder) == [], "a first start may have been killed before anything was written"
    assert main(["chats", "search", "kept"]) == 0
    empty(folder.database)
    assert main(["chats", "list"]) == 1
    said = capsys.readouterr().err
    assert str(folder.database) in said
    assert "move it away" in said
    folder.database.unlink()
    assert titles(folder) == []


@pytest.mark.parametrize("harm", [scribble, cut, put_folder])
def test_what_is_damaged_is_kept_as_it_is(folder: DataFolder, harm: Callable[[Path], None]) -> None:
    harm(folder.database)
    before = None if folder.database.is_dir() else folder.database.read_bytes()
    assert main(["chats", "restore", COPY]) == 0
    (kept,) = folder.snapshots.glob("before-restore-*.damaged")
    if before is None:
        assert (kept / "something").read_text() == "of somebody's"
    else:
        assert kept.read_bytes() == before


def test_what_waits_beside_an_empty_database_is_not_thrown_away(data_dir: Path) -> None:
    folder = DataFolder(data_dir)
    folder.prepare()
    empty(folder.database)
    wal = folder.database.with_name("chats.db-wal")
    wal.write_bytes(b"all of the chats")
    with pytest.raises(DatabaseDamaged):
        open_data(folder)
    assert wal.read_bytes() == b"all of the chats"


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
@pytest.mark.parametrize("name", ["chats.db-wal", "chats.db-shm", "chats.db-journal"])
def test_what_lies_in_the_place_of_a_file_beside_the_database_is_named(
    folder: DataFolder, name: str
) -> None:
    place = folder.root / name
    os.mkfifo(place)
    with pytest.raises(DatabaseDamaged) as caught:
        open_data(folder)
    assert str(place) in caught.value.why
    place.unlink()
    assert titles(folder) == ["kept"]


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
@pytest.mark.parametrize(
    "name",
    [
        "search.db", "search.db-wal", "search.db-journal", "costs.json", "window.json",
        "logs/hearth.log", "logs/native-crash.txt", "snapshots", "states", "headers", "models",
        "logs",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_nothing_else_in_the_folder_holds_up_a_start(
    folder: DataFolder, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = folder.root / name
    if place.is_dir():
        shutil.rmtree(place)
    place.parent.mkdir(exist_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        place.symlink_to(folder.root / "not" / "there")
    else:
        (place / "inside").mkdir(parents=True)
    assert main(["chats", "search", "kept"]) == 0
    assert "kept" in capsys.readouterr().out


def test_a_first_start_that_was_broken_off_is_gone_on_with(data_dir: Path) -> None:
    folder = DataFolder(data_dir)
    folder.prepare()
    empty(folder.database)
    assert titles(folder) == []


@pytest.mark.parametrize("answer", ["putBack", "close"])
def test_the_window_offers_the_copy(
    folder: DataFolder, qapp: QApplication, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty(folder.database)
    opened: list[list[str]] = []

    def press() -> None:
        dialog = QApplication.activeModalWidget()
        assert dialog is not None
        names = [button.objectName() for button in dialog.findChildren(QPushButton)]
        assert names == ["close", "putBack"]
        next(it for it in dialog.findChildren(QPushButton) if it.objectName() == answer).click()

    def run(_: object, data: object, *__: object) -> int:
        opened.append([chat.title for chat in data.chats.chats()])  # type: ignore[attr-defined]
        return 0

    monkeypatch.setattr(running, "run", run)
    QTimer.singleShot(0, press)
    if answer == "close":
        with pytest.raises(DatabaseDamaged):
            open_window(folder, True, LaunchRequest())
        assert folder.database.read_bytes() == b""
    else:
        assert open_window(folder, True, LaunchRequest()) == 0
        assert opened == [["kept"]]
