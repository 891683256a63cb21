"""A message bus for one test, with the desktop services that the test asks for."""

from __future__ import annotations

import json
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.kit.tasks.tasks import Tasks
from app.window.presenters.session_bus import SessionBus
from tests.support.paths import ROOT

CONFIGURATION = """<busconfig><type>session</type><listen>unix:tmpdir={0}</listen>
<auth>EXTERNAL</auth><policy context="default"><allow send_destination="*"/>
<allow receive_sender="*"/><allow own="*"/></policy></busconfig>"""

if not sys.platform.startswith("linux"):
    pytest.skip("only Linux has such a bus", allow_module_level=True)


class FakeDesktop:
    """The program tests/support/fake_desktop.py, and the calls made to it."""

    def __init__(self, process: subprocess.Popen[str], qtbot: QtBot) -> None:
        self._process = process
        self._qtbot = qtbot
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        assert self.called("ready") is None

    def called(self, name: str) -> Any:
        """Return the values of the next call of this name."""
        while True:
            self._qtbot.waitUntil(lambda: not self._lines.empty())
            what, body = json.loads(self._lines.get())
            if what == name:
                return body

    def play(self, words: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{words}\n")
        self._process.stdin.flush()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._reader.join(timeout=60)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)


@pytest.fixture
def bus_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    program = shutil.which("dbus-daemon")
    if program is None:
        pytest.skip("dbus-daemon is not installed")
    configuration = tmp_path / "bus.conf"
    configuration.write_text(CONFIGURATION.format(tmp_path))
    daemon = subprocess.Popen(
        [program, f"--config-file={configuration}", "--nofork", "--print-address"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert daemon.stdout is not None
    address = daemon.stdout.readline().strip()
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    yield address
    daemon.terminate()
    daemon.wait(timeout=60)
    daemon.stdout.close()


@pytest.fixture
def start_desktop(bus_address: str, qtbot: QtBot) -> Iterator[Callable[..., FakeDesktop]]:
    """Yield a function that starts desktop services by name."""
    started = []

    def start(*names: str) -> FakeDesktop:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "support" / "fake_desktop.py"), *names],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        desktop = FakeDesktop(process, qtbot)
        started.append(desktop)
        return desktop

    yield start
    for desktop in started:
        desktop.end()


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    tasks.close()


@pytest.fixture
def bus(tasks: Tasks) -> SessionBus:
    """Return a bus that is not open yet."""
    return SessionBus(tasks)
