"""A bot that waits longer for the window, as five seconds pass quickly on a loaded computer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytestqt.qtbot import QtBot

PATIENCE_MS = 30_000


class PatientBot(QtBot):
    """A bot with longer time limits; only a test that fails takes longer."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE_MS) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = PATIENCE_MS, **more: Any) -> Any:
        return super().waitSignal(signal, timeout=timeout, **more)

    def waitSignals(self, signals: Any, *, timeout: int = PATIENCE_MS, **more: Any) -> Any:
        return super().waitSignals(signals, timeout=timeout, **more)

    def waitExposed(self, widget: Any, *, timeout: int = PATIENCE_MS) -> Any:
        return super().waitExposed(widget, timeout=timeout)
