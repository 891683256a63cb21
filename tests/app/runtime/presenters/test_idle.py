"""Stopping an idle worker when its turn comes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.kit.tasks.tasks import ENGINE, Tasks
from app.models.library.values.entry import ModelEntry
from app.runtime.presenters.idle import IdleStop
from app.runtime.services.lease import Lease
from app.runtime.services.runtime import Runtime
from app.runtime.services.vllm_loader import VllmLoader
from app.runtime.values.wait import Wait
from engines.cancel import CancelToken
from engines.hardware import detect
from engines.memory.load_options import LoadOptions
from tests.engines.checkpoint_files import TARGET
from tests.support.houses import ScriptedWorker


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    made.close()


def _fail(error: object) -> None:
    raise AssertionError(error)


def test_it_leaves_a_worker_at_work_alone_and_waits_for_the_time_that_is_set(
    qtbot: QtBot, tasks: Tasks
) -> None:
    worker, seconds, minutes = ScriptedWorker(), [0.0], [1]
    runtime = Runtime(
        {"vllm": VllmLoader(lambda: worker, lambda: "cpu", detect)}, lambda: seconds[0]
    )
    idle = IdleStop(runtime, lambda: minutes[0], tasks, parent=tasks)
    stopped: list[bool] = []
    idle.stopped.connect(lambda: stopped.append(True))
    idle.check()
    assert not worker.closed, "there is nothing to end"
    entry = ModelEntry("m", "M", TARGET, engine="vllm")

    def lease() -> Lease:
        return runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken())

    def look_and_wait() -> None:
        idle.check()
        qtbot.waitUntil(lambda: not idle.is_checking)

    lease().close()
    seconds[0] = 59.0
    look_and_wait()
    assert not worker.closed
    seconds[0], minutes[0] = 3600.0, 0
    look_and_wait()
    assert not worker.closed, "0 minutes is never"
    minutes[0] = 1
    with lease():
        seconds[0] = 9000.0
        look_and_wait()
        assert not worker.closed, "an answer is being written"
    look_and_wait()
    assert not worker.closed, "its end starts the time anew"
    seconds[0] += 60.0
    look_and_wait()
    qtbot.waitUntil(lambda: bool(stopped))
    assert worker.closed > 0


def test_to_stop_it_waits_for_those_who_have_asked_before(qtbot: QtBot, tasks: Tasks) -> None:
    worker = ScriptedWorker()
    runtime = Runtime({"vllm": VllmLoader(lambda: worker, lambda: "cpu", detect)})
    entry = ModelEntry("m", "M", TARGET, engine="vllm")
    done: list[None] = []
    with runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken()):
        tasks.run(lambda: runtime.stop("vllm"), done.append, _fail, on=ENGINE)
        waits: list[Wait | None] = []
        guest, cancel = runtime.queue.join(waits.append, guest=True), CancelToken()

        def work() -> None:
            runtime.lease(entry, LoadOptions(), lambda _: None, cancel, guest)

        refused: list[Exception] = []
        tasks.run(work, _fail, refused.append, on=ENGINE)
        # A guest goes after everyone else, so it sees the waiting request to stop.
        qtbot.waitUntil(lambda: Wait("queue", count=1) in waits)
        cancel.cancel()
        qtbot.waitUntil(lambda: bool(refused))
        assert (done, worker.closed) == ([], 0)
    qtbot.waitUntil(lambda: bool(done))
    assert worker.closed == 1
    assert runtime.loaded_model("vllm") is None
