"""Running work off the window's thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.kit.tasks.tasks import Tasks
from engines.cancel import CancelToken
from tests.support.calm import until_calm


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    tasks.close()


def fail(error: Exception) -> None:
    raise AssertionError from error


def test_work_runs_elsewhere_and_its_result_comes_back_here(tasks: Tasks, qtbot: QtBot) -> None:
    results: list[tuple[str, str]] = []

    def done(name: str) -> None:
        results.append((name, threading.current_thread().name))

    tasks.run(lambda: threading.current_thread().name, done, fail, on="here")
    qtbot.waitUntil(lambda: bool(results))
    assert results == [("hearth-here", threading.current_thread().name)]


def test_an_error_comes_back_as_it_was_raised(tasks: Tasks, qtbot: QtBot) -> None:
    errors: list[Exception] = []

    def work() -> None:
        raise KeyError("gone")

    tasks.run(work, lambda _: fail(AssertionError()), errors.append, on="here")
    qtbot.waitUntil(lambda: bool(errors))
    assert isinstance(errors[0], KeyError)


def test_one_queue_keeps_the_order_and_two_run_side_by_side(tasks: Tasks, qtbot: QtBot) -> None:
    seen: list[str] = []
    gate = threading.Event()
    tasks.run(lambda: gate.wait(60), lambda _: seen.append("first"), fail, on="a")
    tasks.run(lambda: None, lambda _: seen.append("second"), fail, on="a")
    tasks.run(gate.set, lambda _: seen.append("other"), fail, on="b")
    qtbot.waitUntil(lambda: len(seen) == 3)
    assert seen.index("first") < seen.index("second")


def test_a_stream_arrives_whole_and_in_few_batches(tasks: Tasks, qtbot: QtBot) -> None:
    batches: list[list[int]] = []
    ends: list[bool] = []

    def work(_: CancelToken) -> Iterator[int]:
        yield from range(20_000)

    tasks.stream(work, batches.append, lambda: ends.append(True), fail, on="a")
    qtbot.waitUntil(lambda: bool(ends))
    assert [item for batch in batches for item in batch] == list(range(20_000))
    assert len(batches) < 200


def test_a_cancelled_stream_still_delivers_its_end(tasks: Tasks, qtbot: QtBot) -> None:
    items: list[str] = []
    ends: list[bool] = []

    def work(cancel: CancelToken) -> Iterator[str]:
        yield "begun"
        cancel.wait(60)
        yield "stopped"

    task = tasks.stream(work, items.extend, lambda: ends.append(True), fail, on="a")
    qtbot.waitUntil(lambda: items == ["begun"])
    task.cancel()
    qtbot.waitUntil(lambda: bool(ends))
    assert items == ["begun", "stopped"]


def test_what_a_stream_yielded_before_its_error_arrives_first(tasks: Tasks, qtbot: QtBot) -> None:
    seen: list[object] = []

    def work(_: CancelToken) -> Iterator[str]:
        yield "there"
        raise ValueError

    tasks.stream(work, seen.extend, lambda: fail(AssertionError()), seen.append, on="a")
    qtbot.waitUntil(lambda: len(seen) == 2)
    assert seen[0] == "there"
    assert isinstance(seen[1], ValueError)


def test_closing_cancels_waits_and_delivers_nothing_more(qtbot: QtBot) -> None:
    tasks = Tasks()
    late: list[object] = []
    started = threading.Event()

    def work(cancel: CancelToken) -> Iterator[str]:
        started.set()
        cancel.wait(60)
        yield "late"

    tasks.stream(work, late.extend, lambda: late.append("end"), late.append, on="a")
    assert started.wait(60)
    tasks.close()
    until_calm(qtbot)
    assert late == []
    with pytest.raises(RuntimeError):
        tasks.run(lambda: None, late.append, late.append, on="a")
