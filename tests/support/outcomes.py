"""Wait for the outcome of a verb that answers through `done` or `failed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytestqt.qtbot import QtBot

Tell = Callable[[Any], object]


def outcome(qtbot: QtBot, verb: Callable[[Tell, Tell], object]) -> Any:
    """Run a verb; return the first value that it reports, a result or an error."""
    told: list[Any] = []
    verb(told.append, told.append)
    qtbot.waitUntil(lambda: bool(told))
    return told[0]
