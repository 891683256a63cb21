"""Wait until the window no longer changes by itself."""

from __future__ import annotations

from PySide6.QtCore import QAbstractEventDispatcher, QEventLoop, QTimer
from pytestqt.qtbot import QtBot
from shiboken6 import getAllValidWrappers

from app.kit.tasks.tasks import Tasks

SOON_MS = 500
"""The longest interval of a timer to wait for, in ms. A longer one closes a toast or polls."""
_TURNS_AT_REST, _MOST_TURNS = 4, 200


def running_timers() -> set[QTimer]:
    """Return the active timers of all objects."""
    return {it for it in getAllValidWrappers() if type(it) is QTimer and it.isActive()}


def until_calm(qtbot: QtBot, tasks: Tasks | None = None) -> None:
    """Wait until no work is under way, no timer is about to fire and no event is left.

    Args:
        tasks: The work to wait for.
    """
    qtbot.waitUntil(lambda: not (_is_busy(tasks) or _has_events()) and not _is_busy(tasks))


def _is_busy(tasks: Tasks | None) -> bool:
    return bool(tasks and tasks.is_busy) or any(
        it.isSingleShot() and it.interval() <= SOON_MS for it in running_timers()
    )


def _has_events() -> bool:
    """Handle events until several turns had none: each level of a layout may take one turn."""
    dispatcher, rest = QAbstractEventDispatcher.instance(), 0
    for _ in range(_MOST_TURNS):
        handled = dispatcher.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)
        rest = 0 if handled else rest + 1
        if rest == _TURNS_AT_REST:
            return False
    return True
