"""This computer and its engines, for the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.presenters.tasks import SYSTEM, Tasks

if TYPE_CHECKING:
    from app.core.about import About, Part
    from app.services.licences import Licences
    from engines.hardware import Hardware
    from engines.registry import EngineAvailability


@dataclass(frozen=True)
class SystemCheck:
    """The hardware and engines that were found."""

    hardware: Hardware
    engines: tuple[EngineAvailability, ...]


class SystemService(QObject):
    """Looks at the hardware off the window's thread; `checked` brings a SystemCheck.

    looked: brings what Hearth is made of, an About. licence_read: the words of one part's licence,
    a LicenceText. unread: one of these two could not be had.
    """

    checked = Signal(object)
    looked = Signal(object)
    licence_read = Signal(object)
    unread = Signal(Exception)
    failed = Signal(Exception)

    def __init__(
        self,
        detect: Callable[[], Hardware],
        engines: Callable[[], tuple[EngineAvailability, ...]],
        licences: Callable[[], Licences],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._detect = detect
        self._engines = engines
        self._licences = licences
        self._tasks = tasks

    def look_at_about(self) -> None:
        """Find versions and licences; emits looked, or unread."""
        from app.services.about import about

        def look() -> About:
            vllm = next(it for it in self._engines() if it.name == "vllm")
            return about(vllm.about.removeprefix("vLLM "), self._licences())

        self._tasks.run(look, self.looked.emit, self.unread.emit, on=SYSTEM)

    def read_licence(self, part: Part) -> None:
        """Read the licence of one part; emits licence_read, or unread."""
        self._tasks.run(
            lambda: self._licences().text(part),
            self.licence_read.emit,
            self.unread.emit,
            on=SYSTEM,
        )

    def check(self) -> None:
        """Look; emits checked, or failed."""
        self._tasks.run(
            lambda: SystemCheck(self._detect(), self._engines()),
            self.checked.emit,
            self.failed.emit,
            on=SYSTEM,
        )
