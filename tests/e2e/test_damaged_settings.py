"""Hearth starts with damaged settings, and reports the damage, in terminal and window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.base.folder import DataFolder
from tests.e2e.conftest import ROOT, Hearth, value

# Opens the window offscreen on one folder after the other, prints its toasts and dialogs, and
# closes it. One process opens all, as most of a start happens before there is a window.
_PROGRAM = """
import json, sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel
from app.start import window
from app.cli.main import main
from app.window.pages.main_window import MainWindow
from app.kit.widgets.toast import Toast

said = []

def texts(widget):
    return "|".join(label.text() for label in widget.findChildren(QLabel) if label.text())

def look():
    dialog = QApplication.activeModalWidget()
    windows = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
    shown = [w for w in windows if w.isVisible()]
    if dialog is not None:
        said.append("dialog " + texts(dialog))
        dialog.accept()
    elif shown and shown[0].is_built:
        (main_window,) = shown
        said.extend("toast " + texts(toast) for toast in main_window.findChildren(Toast))
        said.append("offline" if main_window.online.is_offline else "on line")
        main_window.close()
    else:
        QTimer.singleShot(50, look)

{before}
window._application()
for folder in sys.argv[1:]:
    said.clear()
    QTimer.singleShot(100, look)
    status = main(["--data-dir", folder])
    print(json.dumps([status, said]), flush=True)
"""


@dataclass(frozen=True)
class Seen:
    """The exit status of a start of the window, and its toasts and dialogs."""

    status: int
    said: list[str]


def in_window(folders: Iterable[Path], before: str = "") -> list[Seen]:
    """Start the window on each folder; return what it showed.

    Args:
        folders: The folders.
        before: Python code to run first.
    """
    ended = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(before=before), *map(str, folders)],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "DISPLAY": ":none"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    return [Seen(*json.loads(line)) for line in ended.stdout.splitlines()]


DAMAGED: dict[str, bytes | None] = {
    "bytes": b"{\xff",
    "deep": b"[" * 200_000,
    "empty": b"",
    "value": b'{"theme": "pink"}',
    "name": b'{"colour": 1}',
    "number": b'{"zoom": NaN}',
    "folder": None,
}
"""The content of the file; None for a folder in its place."""
CUT_OFF = b'{"offline": tru'
"""The setting to stay offline can no longer be read, and is assumed to be on."""


def damage(data_dir: Path, content: bytes | None) -> Path:
    """Make a data folder with such settings; return their file."""
    DataFolder(data_dir).prepare()
    path = data_dir / "settings.json"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
def test_the_terminal_starts_and_says_so(
    data_dir: Path, hearth: Hearth, content: bytes | None
) -> None:
    path = damage(data_dir, content)
    listed = hearth("settings", "list")
    assert listed.returncode == 0, listed.stderr
    assert str(path) in listed.stderr
    assert "bug of ours" not in listed.stderr
    assert hearth("settings", "set", "text_size", "18").returncode == 0
    names = content is not None and b"colour" in content
    assert (json.loads(path.read_text()).get("colour") == 1) == names
    assert (data_dir / "settings.json.damaged").exists() != names
    assert value(hearth("settings", "get", "text_size", "--json"))["value"] == 18


def test_the_window_starts_and_says_so(tmp_path: Path) -> None:
    paths = [damage(tmp_path / name, content) for name, content in DAMAGED.items()]
    unsure = damage(tmp_path / "offline", CUT_OFF)
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / "window.json").write_text(
        '{"geometry": "zz", "sidebar": true, "sidebar_width": 1e300, "folded": ["a", 5]}'
    )
    *found, of_unsure, of_odd = in_window([*(it.parent for it in (*paths, unsure)), odd])
    for path, seen in zip(paths, found, strict=True):
        assert seen.status == 0
        assert seen.said[0].startswith("toast")
        assert str(path) in seen.said[0]
    assert "offline" in of_unsure.said
    assert of_odd == Seen(0, ["on line"])


def test_what_was_to_stay_offline_stays_so_where_nobody_knows(
    data_dir: Path, hearth: Hearth
) -> None:
    damage(data_dir, CUT_OFF)
    result = hearth("models", "search", "gemma", "--json")
    assert value(result)["error"]["code"] == "offline"


def test_no_end_of_the_window_comes_without_a_dialog(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("recursion", "memory", "permission")]
    before = (
        "from app.window.store import WindowStateFile\n"
        "errors = iter([RecursionError(), MemoryError(), PermissionError(13)])\n"
        "def fail(self): raise next(errors)\n"
        "WindowStateFile.read = fail\n"
    )
    for folder, seen in zip(folders, in_window(folders, before), strict=True):
        assert seen.status == 1
        assert seen.said[0].startswith("dialog")
        assert bool(list((folder / "logs").glob("report-*"))) == (folder.name != "memory")


def test_a_home_that_nobody_has_is_no_bug(data_dir: Path, hearth: Hearth) -> None:
    nobody = "~no-such-user/models"
    refused = hearth("settings", "set", "model_folders", nobody)
    assert refused.returncode == 1
    assert "There is no folder" in refused.stderr
    DataFolder(data_dir).settings.write_text(json.dumps({"model_folders": nobody}))
    assert hearth("models", "list").returncode == 0
    asked = hearth("ask", "Hello", "--model", nobody)
    assert asked.returncode == 1
    assert "bug of ours" not in asked.stderr
    assert value(hearth("settings", "get", "model_folders", "--json"))["value"] == nobody
