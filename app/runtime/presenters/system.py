"""The hardware and the engines of this computer, for the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.tasks import SYSTEM, Tasks

if TYPE_CHECKING:
    from engines.hardware import Hardware
    from engines.registry import EngineAvailability


@dataclass(frozen=True)
class SystemCheck:
    """The hardware and the engines that were found."""

    hardware: Hardware
    engines: tuple[EngineAvailability, ...]


class SystemService(QObject):
    """Detects the hardware and the engines off the window's thread.

    Signals:
        checked(SystemCheck): The check is done.
        failed(error): The check failed.
    """

    checked = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        detect: Callable[[], Hardware],
        engines: Callable[[], tuple[EngineAvailability, ...]],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._detect = detect
        self._engines = engines
        self._tasks = tasks

    def check(self) -> None:
        """Start a check; it emits `checked` or `failed`."""
        self._tasks.run(
            lambda: SystemCheck(self._detect(), self._engines()),
            self.checked.emit,
            self.failed.emit,
            on=SYSTEM,
        )
