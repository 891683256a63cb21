"""One window per data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.base.errors import AlreadyOpen
from app.window.pages import single_instance
from app.window.pages.single_instance import SingleInstance, pass_on
from app.window.values.launch_request import LaunchRequest


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the time limit, which is used up only when nobody listens."""
    monkeypatch.setattr(single_instance, "TAKEN_S", 30.0)


def test_a_second_one_is_refused_and_the_first_is_told(qtbot: QtBot, tmp_path: Path) -> None:
    first = SingleInstance(tmp_path)
    first.listen()
    with qtbot.waitSignal(first.requested) as asked, pytest.raises(AlreadyOpen) as refused:
        SingleInstance(tmp_path)
    assert asked.args == [LaunchRequest()]
    assert refused.value.what == "Hearth is already open."
    assert "brought to the front" in refused.value.why
    first.close()
    second = SingleInstance(tmp_path)
    second.close()


def test_a_request_is_passed_on(qtbot: QtBot, tmp_path: Path) -> None:
    request = LaunchRequest(files=(tmp_path / "a ü.txt",))
    assert not pass_on(tmp_path, request)
    first = SingleInstance(tmp_path)
    first.listen()
    with qtbot.waitSignal(first.requested) as asked:
        assert pass_on(tmp_path, request)
    assert asked.args == [request]
    first.close()


SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from app.base.errors import AlreadyOpen
from app.window.values.launch_request import LaunchRequest
from app.window.pages import single_instance
from app.window.pages.single_instance import SingleInstance
app = QCoreApplication([])
pass_on = single_instance.pass_on
def noted(*arguments):
    taken = pass_on(*arguments)
    print("passed on" if taken else "waiting", flush=True)
    return taken
single_instance.pass_on = noted
try:
    SingleInstance(Path(sys.argv[1]), LaunchRequest(quick_ask=True))
except AlreadyOpen as error:
    print(error.why)
else:
    print("a window of its own")
"""


def start_second(folder: Path) -> subprocess.Popen[str]:
    """Start Hearth on a folder in another process, and return once it waits for the first."""
    second = subprocess.Popen(
        [sys.executable, "-c", SECOND, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert second.stdout is not None
    assert second.stdout.readline() == "waiting\n"
    return second


def test_a_second_one_waits_for_a_first_that_is_still_starting(
    qtbot: QtBot, tmp_path: Path
) -> None:
    first = SingleInstance(tmp_path)
    second = start_second(tmp_path)
    with qtbot.waitSignal(first.requested) as asked:
        first.listen()
    said, _ = second.communicate()
    assert asked.args == [LaunchRequest(quick_ask=True)]
    assert "brought to the front" in said
    first.close()


def test_a_second_one_waits_for_a_first_that_is_closing(qtbot: QtBot, tmp_path: Path) -> None:
    """The first may have to end a worker; opening Hearth again meanwhile still gives a window."""
    first = SingleInstance(tmp_path)
    first.listen()
    first.stop_listening()
    second = start_second(tmp_path)
    assert second.poll() is None
    first.close()
    said, _ = second.communicate()
    assert said.endswith("a window of its own\n")
    assert "passed on" not in said


def test_two_folders_do_not_meet(qtbot: QtBot, tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    instances = [SingleInstance(folder) for folder in folders]
    for instance in instances:
        instance.listen()
    for instance in instances:
        instance.close()


def test_a_lock_of_ours_from_before_does_not_count(qtbot: QtBot, tmp_path: Path) -> None:
    """In a container, the previous process may have had the same process number."""
    held = SingleInstance(tmp_path)
    lock = (tmp_path / "window.lock").read_text()
    held.close()
    assert lock.startswith(f"{os.getpid()}\n")
    (tmp_path / "window.lock").write_text(lock)
    SingleInstance(tmp_path).close()


def test_a_window_that_died_hears_nothing(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for left in (tmp_path / "requests" / "old.request", tmp_path / "wishes" / "old.wish"):
        left.parent.mkdir()
        left.write_bytes(LaunchRequest(quick_ask=True).to_line())
    with monkeypatch.context() as hurried:
        hurried.setattr(single_instance, "TAKEN_S", 0.1)
        assert not pass_on(tmp_path, LaunchRequest())
    heard: list[LaunchRequest] = []
    after = SingleInstance(tmp_path)
    after.requested.connect(heard.append)
    after.listen()
    assert pass_on(tmp_path, LaunchRequest(files=(tmp_path / "a.txt",)))
    assert heard == [LaunchRequest(files=(tmp_path / "a.txt",))]
    assert not (tmp_path / "wishes").exists()
    after.close()
    assert not left.parent.exists()
