"""Global shortcuts on X11, with a real X server and real key presses."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.window.presenters.global_shortcut.service import GlobalShortcut
from app.window.presenters.session_bus import SessionBus


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    program = shutil.which("Xvfb")
    if program is None or shutil.which("xdotool") is None:
        pytest.skip("Xvfb or xdotool is not installed")
    reading, writing = os.pipe()
    # Without "-r" a key repeats by itself where a busy computer releases it late.
    server = subprocess.Popen(
        [program, "-displayfd", str(writing), "-nolisten", "tcp", "-r"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as told:
        number = told.readline().strip()
    monkeypatch.setenv("DISPLAY", f":{number}")
    yield f":{number}"
    server.terminate()
    server.wait(timeout=60)


def press(keys: str) -> None:
    subprocess.run(["xdotool", "key", keys], check=True)


def test_the_keys_reach_us_and_no_others_do(qtbot: QtBot, display: str, bus: SessionBus) -> None:
    shortcut = GlobalShortcut(bus)
    shortcut.use("Ctrl+Alt+H", "xcb")
    assert shortcut.problem == ""
    heard: list[int] = []
    shortcut.pressed.connect(lambda: heard.append(1))
    press("ctrl+h")
    press("ctrl+alt+h")
    qtbot.waitUntil(lambda: heard == [1])
    shortcut.use("", "xcb")
    press("ctrl+alt+h")
    shortcut.use("Ctrl+Alt+J", "xcb")
    press("ctrl+alt+j")
    qtbot.waitUntil(lambda: len(heard) > 1)
    assert heard == [1, 1], "the keys of before were heard as well"
    shortcut.close()


def test_keys_of_another_program_are_told(qtbot: QtBot, display: str, bus: SessionBus) -> None:
    first, second = GlobalShortcut(bus), GlobalShortcut(bus)
    first.use("Ctrl+Alt+H", "xcb")
    second.use("Ctrl+Alt+H", "xcb")
    assert second.problem == "Another program has these keys."
    first.close()
    second.use("Ctrl+Alt+J", "xcb")
    assert second.problem == ""
    second.close()


def test_no_display_is_told(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, bus: SessionBus) -> None:
    monkeypatch.setenv("DISPLAY", ":4711")
    shortcut = GlobalShortcut(bus)
    shortcut.use("Ctrl+Alt+H", "xcb")
    assert "cannot be reached" in shortcut.problem
