"""The order of the signals that report a check of a model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.kit.tasks.tasks import Tasks
from app.models.library.presenters.model_page import CHECKING, ModelPage

FOUND = "as it should be"


@pytest.fixture
def tasks(qtbot: QtBot) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    made.close()


def test_what_came_of_a_check_is_told_behind_how_far_it_was(tasks: Tasks, qtbot: QtBot) -> None:
    def verify(_model: str, progress: Callable[[float], None], _cancel: object) -> str:
        progress(1.0)
        return FOUND

    nothing: Any = None
    care: Any = SimpleNamespace(verify=verify)
    page = ModelPage(nothing, care, nothing, nothing, nothing, tasks)
    heard: list[object] = []
    page.verify("m", heard.append, heard.append, heard.append)
    checked = threading.Event()
    tasks.run(checked.set, lambda _: None, heard.append, on=CHECKING)  # runs after the check
    assert checked.wait(60)
    timer = tasks.findChild(QTimer)
    assert timer is not None
    timer.timeout.emit()  # may fire before the queued progress has arrived
    qtbot.waitUntil(lambda: len(heard) == 2)
    assert heard == [1.0, FOUND]
