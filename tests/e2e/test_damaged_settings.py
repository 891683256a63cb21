"""Hearth starts whatever has become of its settings, and says so, in terminal and window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, Hearth, value

# Opens the window offscreen, tells the toasts and dialogs in it, and closes it.
_PROGRAM = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel
from app import window
from app.cli.main import main
from app.ui.window.main_window import MainWindow
from app.ui.widgets.toast import Toast

def texts(widget):
    return "|".join(label.text() for label in widget.findChildren(QLabel) if label.text())

def look():
    dialog = QApplication.activeModalWidget()
    found = next((w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)), None)
    if dialog is not None:
        print("dialog", texts(dialog), flush=True)
        dialog.accept()
    elif found is not None and found.is_built and found.isVisible():
        for toast in found.findChildren(Toast):
            print("toast", texts(toast), flush=True)
        print("offline", found.presenters.is_offline)
        found.close()
        return
    QTimer.singleShot(50, look)

{before}
window._application()
QTimer.singleShot(100, look)
sys.exit(main([]))
"""


def in_window(data_dir: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(before=before)],
        cwd=ROOT,
        env={
            **os.environ,
            "HEARTH_DATA_DIR": str(data_dir),
            "QT_QPA_PLATFORM": "offscreen",
            "DISPLAY": ":none",
        },
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.parametrize(
    "content",
    [b"{\xff", b"[" * 200_000, b"", b'{"theme": "pink"}', b'{"colour": 1}', b'{"zoom": NaN}', None],
    ids=["bytes", "deep", "empty", "value", "name", "number", "folder"],
)
def test_both_faces_start_and_say_so(data_dir: Path, hearth: Hearth, content: bytes | None) -> None:
    data_dir.mkdir()
    path = data_dir / "settings.json"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    listed = hearth("settings", "list")
    assert listed.returncode == 0, listed.stderr
    assert str(path) in listed.stderr
    assert "bug of ours" not in listed.stderr
    shown = in_window(data_dir)
    assert shown.returncode == 0, shown.stderr
    assert str(path) in shown.stdout
    assert shown.stdout.startswith("toast")
    assert hearth("settings", "set", "text_size", "18").returncode == 0
    names = content is not None and b"colour" in content
    assert (json.loads(path.read_text()).get("colour") == 1) == names
    assert (data_dir / "settings.json.damaged").exists() != names
    assert value(hearth("settings", "get", "text_size", "--json"))["value"] == 18


def test_what_was_to_stay_offline_stays_so_where_nobody_knows(
    data_dir: Path, hearth: Hearth
) -> None:
    data_dir.mkdir()
    (data_dir / "settings.json").write_text('{"offline": tru')
    result = hearth("models", "search", "gemma", "--json")
    assert value(result)["error"]["code"] == "offline"
    assert "offline True" in in_window(data_dir).stdout


@pytest.mark.parametrize("error", ["RecursionError()", "MemoryError()", "PermissionError(13)"])
def test_no_end_of_the_window_comes_without_a_dialog(data_dir: Path, error: str) -> None:
    before = (
        "from app.store.window_state import WindowStateFile\n"
        f"def fail(self): raise {error}\n"
        "WindowStateFile.read = fail\n"
    )
    result = in_window(data_dir, before)
    assert result.returncode == 1
    assert result.stdout.startswith("dialog")
    assert "Traceback" not in result.stderr
    assert bool(list((data_dir / "logs").glob("report-*"))) == ("Memory" not in error)


def test_a_window_state_of_odd_numbers_opens(data_dir: Path) -> None:
    data_dir.mkdir()
    (data_dir / "window.json").write_text(
        '{"geometry": "zz", "sidebar": true, "sidebar_width": 1e300, "folded": ["a", 5]}'
    )
    result = in_window(data_dir)
    assert result.returncode == 0, result.stderr


def test_a_home_that_nobody_has_is_no_bug(data_dir: Path, hearth: Hearth) -> None:
    nobody = "~no-such-user/models"
    assert hearth("settings", "set", "model_folders", nobody).returncode == 0
    assert hearth("models", "list").returncode == 0
    asked = hearth("ask", "Hello", "--model", nobody)
    assert asked.returncode == 1
    assert "bug of ours" not in asked.stderr
    assert value(hearth("settings", "get", "model_folders", "--json"))["value"] == nobody
