"""The versions and licences of Hearth's parts, for the window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.tasks import SYSTEM, Tasks

if TYPE_CHECKING:
    from app.help.services.licences import Licences
    from app.help.values.about import Part


class AboutHearth(QObject):
    """Reads versions and licences off the window's thread.

    Signals:
        looked: The versions and parts, an About.
        licence_read: The text of one part's licence, a LicenceText.
        failed: The error for which one of these two could not be read.
    """

    looked = Signal(object)
    licence_read = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        vllm: Callable[[], str],
        licences: Callable[[], Licences],
        tasks: Tasks,
    ) -> None:
        """Args:
        vllm: Returns the version of vLLM that is installed, or "".
        licences: Opens the list of licences.
        """
        super().__init__()
        self._vllm = vllm
        self._licences = licences
        self._tasks = tasks

    def look(self) -> None:
        """Find versions and parts; emits looked, or failed."""
        from app.help.services.about import about

        self._tasks.run(
            lambda: about(self._vllm(), self._licences()),
            self.looked.emit,
            self.failed.emit,
            on=SYSTEM,
        )

    def read_licence(self, part: Part) -> None:
        """Read the licence of one part; emits licence_read, or failed."""
        self._tasks.run(
            lambda: self._licences().text(part),
            self.licence_read.emit,
            self.failed.emit,
            on=SYSTEM,
        )
