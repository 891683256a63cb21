"""Falling back to the terminal when the named display cannot be reached."""

from __future__ import annotations

import json
import os
import socket  # noqa: TID251 - as a display that listens
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.kit.terminal.display import PATIENCE_S, has_display
from tests.e2e.conftest import ROOT, environment

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is a display")


def hearth(data_dir: Path, *words: str, **names: str) -> subprocess.CompletedProcess[str]:
    """Run Hearth with no display variables but these."""
    return python(data_dir, "-m", "app", *words, **names)


def python(data_dir: Path, *words: str, **names: str) -> subprocess.CompletedProcess[str]:
    chooses = ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "XAUTHORITY", "QT_QPA_PLATFORM")
    kept = {name: it for name, it in environment(data_dir).items() if name not in chooses}
    return subprocess.run(
        [sys.executable, *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, cwd=ROOT,
        env={**kept, **names},
    )  # fmt: skip


def chatted(result: subprocess.CompletedProcess[str]) -> bool:
    """Return True if the chat in the terminal opened, after one line with the reason."""
    said = [line for line in result.stderr.splitlines() if "The window cannot open" in line]
    return result.returncode == 0 and "private AI chat" in result.stdout and len(said) == 1


STALE: list[dict[str, str]] = [
    {"DISPLAY": ":7777"},
    {"WAYLAND_DISPLAY": "wayland-none"},
    {"DISPLAY": ":7777", "QT_FATAL_WARNINGS": "1"},
    {"DISPLAY": "localhost:99.0"},
    {"DISPLAY": "no display at all"},
    {"DISPLAY": ":7777", "WAYLAND_DISPLAY": "wayland-none"},
    {"DISPLAY": ":7777", "QT_QPA_PLATFORM": "xcb"},
    {"DISPLAY": ":7777", "QT_QPA_PLATFORM": "no-such-plugin"},
    {"WAYLAND_DISPLAY": "wayland-none", "QT_QPA_PLATFORM": "wayland"},
    {"DISPLAY": ":7777", "QT_QPA_PLATFORM_PLUGIN_PATH": "/nowhere"},
]

_TRY_EACH = """
import json, os, sys
from app.kit.terminal.display import DisplayTrial
before = dict(os.environ)
for names in json.loads(sys.argv[1]):
    os.environ.clear()
    os.environ.update(before | names)
    print(json.dumps(DisplayTrial().problem()))
"""


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_who_is_here_from_afar_gets_the_terminal(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_CONNECTION", raising=False)
    assert has_display(system)
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.7 50000 192.0.2.1 22")
    assert not has_display(system)


@pytest.mark.parametrize("names", STALE[:3], ids=" ".join)
def test_a_stale_display_leads_to_the_terminal(data_dir: Path, names: dict[str, str]) -> None:
    result = hearth(data_dir, **names)
    assert chatted(result), (result.returncode, result.stderr)


def test_every_stale_display_has_a_reason(data_dir: Path) -> None:
    result = python(data_dir, "-c", _TRY_EACH, json.dumps(STALE))
    reasons = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(reasons) == len(STALE), (result.returncode, result.stderr)
    assert all(reasons), list(zip(STALE, reasons, strict=True))


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
    """Start an X server that accepts only clients with a secret."""
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


def test_a_display_that_hangs_is_given_up(data_dir: Path) -> None:
    """The display accepts a connection and never replies."""
    with socket.socket(socket.AF_UNIX) as hanging:
        number = 10_000 + os.getpid() % 50_000  # a number that no other test run uses
        hanging.bind(f"\0/tmp/.X11-unix/X{number}")
        hanging.listen()
        began = time.monotonic()
        result = tried(data_dir, f":{number}", patience_s=2.0)
    assert (result.returncode, result.stdout.strip()) == (0, "the display does not answer")
    assert time.monotonic() - began >= 2.0
    assert PATIENCE_S >= 10, "one far away has no time"


def tried(
    data_dir: Path, display: str, patience_s: float = PATIENCE_S
) -> subprocess.CompletedProcess[str]:
    """Try a display in another process, which prints the problem."""
    text = f"from app.kit.terminal.display import *; print(DisplayTrial({patience_s}).problem())"
    return python(data_dir, "-c", text, DISPLAY=display, QT_QPA_PLATFORM="xcb")


def test_files_are_not_opened_by_a_display_that_is_gone(data_dir: Path, tmp_path: Path) -> None:
    result = hearth(data_dir, "open", str(tmp_path / "a.txt"), DISPLAY=":7777")
    assert result.returncode == 1
    assert "no display for a window" in result.stderr


def test_the_doctor_names_a_display_that_is_gone(data_dir: Path) -> None:
    assert "could not connect to display :77" in hearth(data_dir, "doctor", DISPLAY=":7777").stdout


def test_a_display_that_is_there_is_used(data_dir: Path, x_display: str) -> None:
    result = tried(data_dir, x_display)
    assert (result.returncode, result.stdout.strip()) == (0, ""), result.stderr
