"""Delivering the result of the latest piece of work only."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest
from pytestqt.qtbot import QtBot

from app.kit.tasks.latest import Latest
from app.kit.tasks.tasks import Tasks


def unexpected(what: object) -> None:
    pytest.fail(f"nobody asked for this any more: {what!r}")


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    made.close()


def test_what_is_overtaken_is_dropped_or_not_even_begun(tasks: Tasks, qtbot: QtBot) -> None:
    latest = Latest(tasks, "here")
    begun: list[int] = []
    done: list[int] = []
    hold = threading.Event()

    def work(number: int) -> int:
        begun.append(number)
        hold.wait(60)
        return number

    for number in (1, 2, 3):
        latest.run(partial(work, number), done.append, unexpected)
        if number == 1:
            qtbot.waitUntil(lambda: begun == [1])
    hold.set()
    qtbot.waitUntil(lambda: done == [3])
    assert begun == [1, 3]


def test_an_error_of_what_was_overtaken_is_not_told(tasks: Tasks, qtbot: QtBot) -> None:
    latest = Latest(tasks, "here")
    done: list[str] = []
    hold = threading.Event()

    def fails() -> str:
        hold.wait(60)
        raise ValueError

    latest.run(fails, done.append, lambda error: done.append(str(error)))
    latest.run(lambda: "second", done.append, unexpected)
    hold.set()
    qtbot.waitUntil(lambda: done == ["second"])


def test_the_error_of_the_last_is_told(tasks: Tasks, qtbot: QtBot) -> None:
    latest = Latest(tasks, "here")
    told: list[Exception] = []
    latest.run(lambda: int("x"), unexpected, told.append)
    qtbot.waitUntil(lambda: len(told) == 1)


def test_what_is_forgotten_is_not_told(tasks: Tasks, qtbot: QtBot) -> None:
    latest = Latest(tasks, "here")
    after: list[int] = []
    latest.run(lambda: 1, unexpected, unexpected)
    latest.forget()
    tasks.run(lambda: 2, after.append, unexpected, on="here")
    qtbot.waitUntil(lambda: after == [2])
