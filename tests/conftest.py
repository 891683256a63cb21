"""Every test has its own folder, runs offscreen and offline, and leaves nothing behind."""

from __future__ import annotations

import gc
import ipaddress
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from app.base import db
from app.base.language import use_language
from app.models.library.services.places import places
from engines.redaction import forget_secrets
from tests.hub.fixtures import hub  # noqa: F401  a fixture for every test

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# The user's keyring and token are left alone.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
os.environ.pop("HF_TOKEN", None)
os.environ.pop("HEARTH_API_TOKEN", None)
# There is no certificate in this folder: a test names the ones that it trusts, and no client spends
# a twentieth of a second on reading all that this computer trusts.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = str(Path(__file__).parent)

# The disk would be waited for ten thousand times, for some milliseconds each.
db.commits_reach_disk = False

# A signal that is ignored here, as `nohup` and a shell's `&` do, would be ignored by every process
# that a test starts; a handler ends with the program that set it.
for _name in ("SIGHUP", "SIGINT", "SIGQUIT"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        to_python = _name == "SIGINT"
        signal.signal(_number, signal.default_int_handler if to_python else lambda *_: None)

GRACE_SECONDS = 30.0
"""The time that threads and processes have to end after their test; only leftovers take so long."""


def _refuse_outside_connections(event: str, args: tuple[Any, ...]) -> None:
    """Refuse outside connections, as an audit hook: it sees every socket that Python opens."""
    if event == "socket.getaddrinfo":
        host = args[0]
    elif event in {"socket.connect", "socket.sendto"}:
        if not isinstance(args[1], tuple):
            return  # a local socket: its address is a path
        host = args[1][0]
    else:
        return
    name = host.decode() if isinstance(host, bytes) else host
    if name in {None, "", "localhost"}:
        return
    try:
        outside = not ipaddress.ip_address(name).is_loopback
    except ValueError:
        outside = True
    if outside:
        raise AssertionError(f"a test tried to reach {name}: tests stay on this computer")


sys.addaudithook(_refuse_outside_connections)


def pytest_collection_finish() -> None:
    """Freeze everything imported and collected so far, which stays and is no garbage."""
    gc.freeze()


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder that Hearth uses as the user's in this test; it does not exist yet."""
    folder = tmp_path / "hearth-data"
    monkeypatch.setenv("HEARTH_DATA_DIR", str(folder))
    # The user's files from the Hub or from other programs are not seen.
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    monkeypatch.setattr(places, "home", lambda: tmp_path / "home")
    return folder


@pytest.fixture
def qtbot(qapp: Any, request: pytest.FixtureRequest) -> Any:
    from tests.support.patient_bot import PatientBot

    return PatientBot(request)


@pytest.fixture(scope="module")
def set_aside() -> Iterator[None]:
    """Freeze the objects at the start of a module, so that each test's collection skips them."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def in_english(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reset the language, which a command that a test runs can leave to the process."""
    monkeypatch.setenv("LANGUAGE", "en")
    yield
    use_language("en")


@pytest.fixture(autouse=True)
def no_secrets() -> Iterator[None]:
    """Forget a test's keys, which would be replaced in the texts of other tests."""
    forget_secrets()
    yield
    forget_secrets()


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a thread, a process, a window or a running timer."""
    uses_qt = "qapp" in request.fixturenames
    checks: dict[str, Callable[[], set[Any]]] = {
        "threads": lambda: set(threading.enumerate()),
        "processes": _processes,
    }
    if uses_qt:
        request.getfixturevalue("set_aside")
        checks |= {"windows": _windows, "timers": _running_timers}
    before = {kind: find() for kind, find in checks.items()}
    yield
    left = {kind: _wait_until_gone(find, before[kind], uses_qt) for kind, find in checks.items()}
    complaint = "; ".join(
        f"{kind}: {', '.join(map(_named, things))}" for kind, things in left.items() if things
    )
    if complaint:
        pytest.fail(f"the test left something behind: {complaint}")
    if uses_qt:
        _empty_clipboard()


@pytest.fixture(scope="session")
def x_display() -> Iterator[str]:
    """Start an X display for the few tests of a window on a real screen; yield its name."""
    if shutil.which("Xvfb") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Xvfb is not installed")
        pytest.skip("Xvfb is not installed")
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1280x900x24", "-nolisten", "tcp"],
        pass_fds=[write_end],
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    try:
        with os.fdopen(read_end) as answer:
            number = answer.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


def _wait_until_gone(find: Callable[[], set[Any]], before: set[Any], uses_qt: bool) -> set[Any]:
    """Return the things that `find` still sees in addition to `before`, after a time to end."""
    deadline = time.monotonic() + GRACE_SECONDS
    while (left := find() - before) and time.monotonic() < deadline:
        if uses_qt:
            _process_events()
        time.sleep(0.02)
    return left


def _processes() -> set[Any]:
    """Return all descendants of this process.

    psutil looks through every process of the computer for them, which twice for each test adds up
    to a minute; so if Linux says at once that there are none, it is not called.
    """
    try:
        lists = list(Path("/proc/self/task").glob("*/children"))
        if lists and not any(map(_read, lists)):
            return set()
    except OSError:
        pass  # a thread has ended just now
    return set(psutil.Process().children(recursive=True))


def _read(file: Path) -> bytes:
    """Read a file without `Path.open`, which tests replace to refuse."""
    with open(file, "rb") as opened:  # noqa: PTH123
        return opened.read()


def _empty_clipboard() -> None:
    """Empty the clipboard.

    Offscreen it outlives Python, and freeing an object of Python's then crashes. On a real screen
    it ends with the application.
    """
    from PySide6.QtGui import QGuiApplication

    QGuiApplication.clipboard().clear()


def _process_events() -> None:
    from PySide6.QtCore import QCoreApplication

    QCoreApplication.processEvents()


def _named(thing: Any) -> str:
    """Describe a leftover; a timer is recognised by its owner and its interval."""
    from PySide6.QtCore import QTimer

    if type(thing) is not QTimer:
        return repr(thing)
    return f"a timer of {type(thing.parent()).__name__}, {thing.interval()} ms"


def _windows() -> set[Any]:
    from PySide6.QtWidgets import QApplication

    return set(QApplication.topLevelWidgets())


def _running_timers() -> set[Any]:
    from tests.support.calm import running_timers

    return set(running_timers())
