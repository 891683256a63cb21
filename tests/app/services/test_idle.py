"""The worker that nobody asks is ended, on the engine's queue."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.core.models import ModelEntry
from app.services.idle import IdleStop
from app.services.loads_vllm import VllmLoads
from app.services.runtime import Runtime
from app.services.tasks import ENGINE, Tasks
from engines.cancel import CancelToken
from engines.hardware import detect
from engines.planner import Wishes
from tests.app.services.test_switching import ScriptedWorker
from tests.engines.checkpoint_files import TARGET


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    made.close()


def _fail(error: Exception) -> None:
    raise error


def test_it_waits_for_its_turn_and_for_the_time_that_is_set(qtbot: QtBot, tasks: Tasks) -> None:
    worker, seconds, minutes = ScriptedWorker(), [0.0], [1]
    runtime = Runtime(
        {"vllm": VllmLoads(lambda: worker, lambda: "cpu", detect)}, lambda: seconds[0]
    )
    idle = IdleStop(runtime, lambda: minutes[0], tasks, parent=tasks)
    stopped: list[bool] = []
    idle.stopped.connect(lambda: stopped.append(True))
    idle.look()
    assert not worker.closed, "there is nothing to end"
    entry = ModelEntry("m", "M", TARGET, engine="vllm")
    runtime.load(entry, Wishes(), lambda _: None, CancelToken())

    def look_and_wait() -> None:
        idle.look()
        done: list[None] = []
        tasks.run(lambda: None, done.append, _fail, on=ENGINE)
        qtbot.waitUntil(lambda: bool(done))

    seconds[0] = 59.0
    look_and_wait()
    assert not worker.closed
    seconds[0], minutes[0] = 3600.0, 0
    look_and_wait()
    assert not worker.closed, "0 minutes is never"
    minutes[0] = 1
    # An answer is being written when the look comes; its end starts the time anew.
    held = threading.Event()

    def answer() -> None:
        held.wait(10)
        runtime.load(entry, Wishes(), lambda _: None, CancelToken())

    tasks.run(answer, lambda _: None, _fail, on=ENGINE)
    idle.look()
    idle.look()
    held.set()
    look_and_wait()
    assert not worker.closed
    seconds[0] += 60.0
    look_and_wait()
    qtbot.waitUntil(lambda: bool(stopped))
    assert worker.closed > 0
