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
    """The versions and licences, read in the background.

    Signals:
        looked(About): The versions and parts were read.
        licence_read(LicenceText): The text of a part's licences was read.
        failed(error): One of these could not be read.
    """

    versions_read = Signal(object)
    licence_read = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        vllm: Callable[[], str],
        licences: Callable[[], Licences],
        tasks: Tasks,
    ) -> None:
        """Take the sources of versions and licences.

        Args:
            vllm: Returns the version of the installed vLLM; "" if there is none.
            licences: Returns the list of licences.
        """
        super().__init__()
        self._vllm = vllm
        self._licences = licences
        self._tasks = tasks

    def refresh(self) -> None:
        """Read the versions and parts; emit `versions_read` or `failed`."""
        from app.help.services.about import about

        self._tasks.run(
            lambda: about(self._vllm(), self._licences()),
            self.versions_read.emit,
            self.failed.emit,
            on=SYSTEM,
        )

    def read_licence(self, part: Part) -> None:
        """Read a part's licences; emit `licence_read` or `failed`."""
        self._tasks.run(
            lambda: self._licences().text(part),
            self.licence_read.emit,
            self.failed.emit,
            on=SYSTEM,
        )
