"""Hearth's files are private to their owner on a computer with several accounts."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.folder import DataFolder
from tests.e2e.conftest import ROOT, environment

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows keeps other accounts out itself")

_WINDOW = """
import sys
from PySide6.QtCore import QTimer
from app.start import window
from app.window.values.launch_request import LaunchRequest
from app.base.folder import DataFolder
from app.window.pages.main_window import MainWindow

def look():
    main = next(it for it in app.topLevelWidgets() if isinstance(it, MainWindow))
    if main.is_built:
        main.presenters.settings.set("snapshots", 3)
        QTimer.singleShot(500, main.close)
    else:
        QTimer.singleShot(50, look)

app = window._application()
QTimer.singleShot(0, look)
sys.exit(window.open_window(DataFolder.default(), True, LaunchRequest()))
"""


_SEVERAL = """
import json, sys
from app.cli.main import main

for words in json.loads(sys.argv[1]):
    if main(words) != 0:
        sys.exit(f"{words} failed")
"""


def run_several(data_dir: Path, *commands: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run several commands of the terminal in one process."""
    return run(data_dir, "-c", _SEVERAL, json.dumps(commands))


def run(data_dir: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Hearth with a umask that hides nothing from others."""
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=100,
        cwd=ROOT,
        env=environment(data_dir) | {"QT_QPA_PLATFORM": "offscreen"},
        umask=0,
    )
    assert done.returncode == 0, done.stderr
    return done


def open_to_others(folder: Path) -> list[str]:
    paths = (folder, *folder.rglob("*"))
    return [
        f"{path} {stat.filemode(path.lstat().st_mode)}"
        for path in paths
        if not path.is_symlink() and path.lstat().st_mode & 0o077
    ]


def test_nothing_that_is_written_is_for_others(data_dir: Path) -> None:
    said = run_several(data_dir, ("ask", "Hello"), ("settings", "set", "kv_disk", "100"))
    assert said.stdout
    run(data_dir, "-c", _WINDOW)
    there = {path.name for path in data_dir.iterdir()}
    assert there >= {"chats.db", "search.db", "settings.json", "window.json"}
    assert open_to_others(data_dir) == []


def test_an_export_is_for_its_owner_alone(data_dir: Path, tmp_path: Path) -> None:
    from app.chats.history.store.chats import ChatStore

    folder = DataFolder(data_dir)
    folder.prepare()
    database = Database(folder.database)
    chat = ChatStore(database).ask(None, "a secret")[0].chat_id
    database.close()
    outs = [tmp_path / f"out.{kind}" for kind in ("md", "html", "json", "pdf")]
    export = ("chats", "export", chat)
    run_several(
        data_dir, *((*export, "--format", it.suffix[1:], "--output", str(it)) for it in outs)
    )
    for out in outs:
        assert stat.S_IMODE(out.stat().st_mode) == 0o600, out.name


def test_what_was_left_open_is_closed_at_the_next_start(data_dir: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "shown.txt").write_text("for all")
    for place in ("snapshots", "states", "logs", "models/own", "headers/a/b", "engines/vllm/run"):
        (data_dir / place).mkdir(parents=True)
        (data_dir / place / "file").write_text("x")
    for name in ("search.db-wal", "chats.before-v3.db", "costs.json", "anything.else"):
        (data_dir / name).touch()
    (data_dir / "linked").symlink_to(outside / "shown.txt")
    (data_dir / "logs" / "linked").symlink_to(outside)
    Database(data_dir / "chats.db").close()
    for path in (data_dir, *data_dir.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o777 if path.is_dir() else 0o666)
    outside.chmod(0o755)
    (outside / "shown.txt").chmod(0o644)
    run(data_dir, "-m", "app", "chats", "list")
    # Nobody else can enter the folder; inside it, foreign files keep their permissions.
    assert [it.rpartition("/")[2] for it in open_to_others(data_dir)] == [
        "anything.else -rw-rw-rw-"
    ]
    assert stat.S_IMODE(outside.stat().st_mode) == 0o755
    assert stat.S_IMODE((outside / "shown.txt").stat().st_mode) == 0o644
