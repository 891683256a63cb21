"""What suits this computer, for the window: recommended models, and the families that are known."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.core.offers import Offers
from app.services.offering import families_of, offers_of
from app.services.recommending import Recommending
from app.services.tasks import SYSTEM, Tasks
from app.services.telling import telling
from engines.hardware import Hardware


class Suggestions(QObject):
    """Nobody outside this computer is asked.

    offered(Offers), families(tuple of KnownFamily), or failed(error), in three parts.
    crashed(error): a bug of ours, told besides.
    """

    offered = Signal(object)
    families = Signal(object)
    failed = Signal(Exception)
    crashed = Signal(Exception)

    def __init__(
        self,
        recommending: Recommending,
        hardware: Callable[[], Hardware],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._recommending = recommending
        self._hardware = hardware
        self._tasks = tasks

    def recommend(self) -> None:
        """Emits offered, or failed."""

        def work() -> Offers:
            recommendation = self._recommending.recommend()
            return offers_of(recommendation, self._recommending.catalogue(), self._hardware())

        self._tasks.run(
            work, self.offered.emit, telling(self.failed.emit, self.crashed.emit), on=SYSTEM
        )

    def look_at_families(self) -> None:
        """Emits families, or failed."""
        self._tasks.run(
            lambda: families_of(self._recommending.catalogue()),
            self.families.emit,
            telling(self.failed.emit, self.crashed.emit),
            on=SYSTEM,
        )
