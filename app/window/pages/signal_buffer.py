"""Keeps signals that are emitted before the whole window exists, until they can be handled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QWidget

_UNSEEN_MS = 300
"""In milliseconds. A window that is not visible is never painted, so the wait must end."""


class SignalBuffer:
    """A recorder of signals; `pass_on` emits them again for the receivers connected by then."""

    def __init__(self, signals: Iterable[SignalInstance]) -> None:
        self._recorded: list[tuple[SignalInstance, tuple[Any, ...]]] = []
        self._connections = [self._listen(signal) for signal in signals]

    @property
    def recorded(self) -> list[tuple[Any, ...]]:
        """The values of the signals that were recorded and not passed on."""
        return [values for _, values in self._recorded]

    @property
    def is_recording(self) -> bool:
        """True if signals are still being recorded."""
        return bool(self._connections)

    def pass_on(self) -> None:
        """Emit the recorded signals again, and stop recording."""
        for signal, connection in self._connections:
            signal.disconnect(connection)
        self._connections.clear()
        for signal, values in self._recorded:
            signal.emit(*values)
        self._recorded.clear()

    def clear(self) -> None:
        """Drop the recorded signals."""
        self._recorded.clear()

    def _listen(self, signal: SignalInstance) -> tuple[SignalInstance, Any]:
        def note(*values: Any) -> None:
            self._recorded.append((signal, values))

        signal.connect(note)
        return signal, note


class FirstPainting(QObject):
    """A watcher for the first painting of a widget.

    Signals:
        painted(): The widget was painted, or is not visible. Emitted once, when the event loop is
            idle.
    """

    painted = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.timeout.connect(self._finish)
        self._wait.start(_UNSEEN_MS)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Finish once the event loop is idle after the painting."""
        if event.type() is QEvent.Type.Paint:
            self._wait.start(0)
        return super().eventFilter(watched, event)

    def _finish(self) -> None:
        self._widget.removeEventFilter(self)
        self.painted.emit()
