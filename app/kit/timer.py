"""Timers that call a function once."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def timer(owner: QObject, ms: int, do: Callable[[], object]) -> QTimer:
    """Return a stopped timer that calls `do` once, `ms` milliseconds after each `start`.

    Starting it again before that begins the wait anew.
    """
    single_shot = QTimer(owner)
    single_shot.setSingleShot(True)
    single_shot.setInterval(ms)
    single_shot.timeout.connect(do)
    return single_shot
