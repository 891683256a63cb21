"""A display that is named and not there leads to the terminal, and never ends the process."""

from __future__ import annotations

import os
import socket  # noqa: TID251 - as a display that listens
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import ROOT, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is a display")


def hearth(data_dir: Path, *words: str, **names: str) -> subprocess.CompletedProcess[str]:
    """Run with these names in the environment and nothing else that chooses a display."""
    chooses = ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "QT_QPA_PLATFORM")
    kept = {name: it for name, it in environment(data_dir).items() if name not in chooses}
    return subprocess.run(
        [sys.executable, "-m", "app", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, cwd=ROOT,
        env={**kept, **names},
    )  # fmt: skip


def chatted(result: subprocess.CompletedProcess[str]) -> bool:
    """Whether the terminal's chat came, after one line that says why."""
    said = [line for line in result.stderr.splitlines() if "The window cannot open" in line]
    return result.returncode == 0 and "private AI chat" in result.stdout and len(said) == 1


@pytest.mark.parametrize(
    "names",
    [
        {"DISPLAY": ":7777"},
        {"DISPLAY": "localhost:99.0"},
        {"DISPLAY": "no display at all"},
        {"WAYLAND_DISPLAY": "wayland-none"},
        {"DISPLAY": ":7777", "WAYLAND_DISPLAY": "wayland-none"},
        {"DISPLAY": ":7777", "QT_QPA_PLATFORM": "xcb"},
        {"DISPLAY": ":7777", "QT_QPA_PLATFORM": "no-such-plugin"},
        {"WAYLAND_DISPLAY": "wayland-none", "QT_QPA_PLATFORM": "wayland"},
        {"DISPLAY": ":7777", "QT_QPA_PLATFORM_PLUGIN_PATH": "/nowhere"},
        {"DISPLAY": ":7777", "QT_FATAL_WARNINGS": "1"},
    ],
    ids=lambda names: " ".join(map("=".join, names.items())),
)
def test_a_stale_display_leads_to_the_terminal(data_dir: Path, names: dict[str, str]) -> None:
    result = hearth(data_dir, **names)
    assert chatted(result), (result.returncode, result.stderr)


def test_who_is_refused_by_the_display_chats_in_the_terminal(
    data_dir: Path, tmp_path: Path
) -> None:
    cookie = tmp_path / "authority"
    server = guarded(cookie)
    try:
        name = f":{_number(server)}"
        assert chatted(hearth(data_dir, DISPLAY=name, XAUTHORITY=str(tmp_path / "another")))
    finally:
        server.terminate()
        server.communicate()


def guarded(cookie: Path) -> subprocess.Popen[bytes]:
    """An X server that only takes those who know a secret."""
    family_wild = b"\xff\xff" + b"\0\0" * 2
    cookie.write_bytes(family_wild + b"\0\x12MIT-MAGIC-COOKIE-1" + b"\0\x10" + os.urandom(16))
    try:
        return subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-auth", str(cookie)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        pytest.skip("Xvfb is not installed")


def _number(server: subprocess.Popen[bytes]) -> int:
    assert server.stdout is not None
    return int(server.stdout.readline())


def test_a_display_that_hangs_is_given_up(data_dir: Path, tmp_path: Path) -> None:
    """It takes a connection, and says nothing more."""
    with socket.socket(socket.AF_UNIX) as hanging:
        hanging.bind("\0/tmp/.X11-unix/X4712")
        hanging.listen()
        began = time.monotonic()
        result = hearth(data_dir, DISPLAY=":4712")
    assert chatted(result), (result.returncode, result.stderr)
    assert "does not answer" in result.stderr
    assert time.monotonic() - began >= 10, "one far away had no time"


def test_files_are_not_opened_by_a_display_that_is_gone(data_dir: Path, tmp_path: Path) -> None:
    result = hearth(data_dir, "open", str(tmp_path / "a.txt"), DISPLAY=":7777")
    assert result.returncode == 1
    assert "no display for a window" in result.stderr


def test_the_doctor_names_a_display_that_is_gone(data_dir: Path) -> None:
    assert "could not connect to display :77" in hearth(data_dir, "doctor", DISPLAY=":7777").stdout


def test_a_display_that_is_there_is_used(data_dir: Path, x_display: str) -> None:
    from app.cli import display

    result = subprocess.run(
        [sys.executable, "-m", display.__name__],
        capture_output=True, text=True, timeout=60, cwd=ROOT,
        env={**environment(data_dir), "DISPLAY": x_display, "QT_QPA_PLATFORM": "xcb"},
    )  # fmt: skip
    assert (result.returncode, result.stdout.strip()) == (0, ""), result.stderr
