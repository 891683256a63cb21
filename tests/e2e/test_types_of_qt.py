"""Only the thread of the window makes PySide types, in the whole life of a window."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import ROOT, environment

# PySide itself also uses the stand-ins of its modules.
_PROGRAM = """
import sys
import threading

import PySide6.QtSvg
import PySide6.QtWidgets

class Watched:
    def __init__(self, module):
        self.module = module

    def __getattr__(self, name):
        there = name in vars(self.module)
        found = getattr(self.module, name)
        if not there and threading.current_thread() is not threading.main_thread():
            print(threading.current_thread().name, "makes", name)
        return found

for name in ("PySide6.QtCore", "PySide6.QtGui", "PySide6.QtWidgets"):
    sys.modules[name] = Watched(sys.modules[name])

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.start import window
from app.window.values.launch_request import LaunchRequest
from app.base.folder import DataFolder
from app.window.pages.main_window import MainWindow

def begin():
    main = next((w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)), None)
    if main is None or not main.is_built:
        QTimer.singleShot(20, begin)
        return
    main.presenters.generation.ended.connect(lambda answer: leave(main, answer))
    main.page.ask("What can you do?")

def leave(main, answer):
    print(answer.state)
    main.go_to("models")
    QTimer.singleShot(1500, main.close)

window._application()
QTimer.singleShot(0, begin)
sys.exit(window.open_window(DataFolder.default(), True, LaunchRequest()))
"""


def test_only_the_thread_of_the_window_makes_types(data_dir: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=ROOT,
        env=environment(data_dir) | {"QT_QPA_PLATFORM": "offscreen"},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "complete\n"
