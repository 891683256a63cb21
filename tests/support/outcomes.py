"""What comes of a verb that answers by `done` or `failed`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytestqt.qtbot import QtBot

Tell = Callable[[Any], object]


def outcome(qtbot: QtBot, verb: Callable[[Tell, Tell], object]) -> Any:
    """Waits for what the verb has told first: what came of it, or the error."""
    told: list[Any] = []
    verb(told.append, told.append)
    qtbot.waitUntil(lambda: bool(told))
    return told[0]
