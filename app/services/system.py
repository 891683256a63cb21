"""What this computer has and what Hearth can do with it, for the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.services.tasks import SYSTEM, Tasks
from engines.hardware import Hardware
from engines.registry import EngineStatus


class SystemService(QObject):
    """Looks at the hardware off the window's thread; `checked` brings what was found."""

    checked = Signal(object, object)
    failed = Signal(Exception)

    def __init__(
        self,
        detect: Callable[[], Hardware],
        engines: Callable[[], tuple[EngineStatus, ...]],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._detect = detect
        self._engines = engines
        self._tasks = tasks

    def check(self) -> None:
        """Emits checked(Hardware, tuple of EngineStatus), or failed."""
        self._tasks.run(
            lambda: (self._detect(), self._engines()),
            lambda found: self.checked.emit(*found),
            self.failed.emit,
            on=SYSTEM,
        )
