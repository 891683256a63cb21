"""The recommended models for this computer and the known families, for the window."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.error_handling import error_handler
from app.kit.tasks.tasks import SYSTEM, Tasks
from app.models.discover.services.recommending import Recommending

if TYPE_CHECKING:
    from app.models.discover.values.offers import Offers
    from engines.hardware import Hardware

FRESH_S: Final = 60.0
"""How long a recommendation stays valid, in seconds."""


class Suggestions(QObject):
    """Recommends models without asking any other computer.

    Attributes:
        last_offers: The last value of `offered`.

    Signals:
        offered: The Offers.
        failed: The error for the user.
        crashed: The error, also emitted if it is a bug in Hearth.
    """

    offered = Signal(object)
    failed = Signal(Exception)
    crashed = Signal(Exception)

    def __init__(
        self,
        recommending: Recommending,
        hardware: Callable[[], Hardware],
        tasks: Tasks,
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._recommending = recommending
        self._hardware = hardware
        self._clock = clock
        self._tasks = tasks
        self._recommended_at = -FRESH_S
        self._unseen: frozenset[str] | None = None
        self.last_offers: Offers | None = None

    def recommend_again(self) -> None:
        """Recommend again if the last time was `FRESH_S` ago: free memory can have changed."""
        if self._clock() - self._recommended_at >= FRESH_S:
            self.recommend(only_news=True)

    def recommend(self, *, only_news: bool = False) -> None:
        """Recommend models; emits `offered` or `failed`.

        Args:
            only_news: Whether to emit nothing if the offers look the same as before.
        """
        self._recommended_at = self._clock()

        def work() -> Offers:
            from app.models.discover.presenters.offering import offers_of

            recommending = self._recommending
            recommendation, catalogue = recommending.recommend(), recommending.catalogue()
            if self._unseen is None:  # a model stays new until Hearth ends
                self._unseen = recommending.unseen_models()
            return offers_of(recommendation, catalogue, self._hardware(), self._unseen)

        def done(offers: Offers) -> None:
            from app.models.discover.values.offers import look_alike

            if only_news and self.last_offers is not None and look_alike(self.last_offers, offers):
                return
            self.last_offers = offers
            self.offered.emit(offers)

        def failed(error: Exception) -> None:
            self.last_offers = None
            self._recommended_at = -FRESH_S
            tell(error)

        tell = error_handler(self.failed.emit, self.crashed.emit)
        self._tasks.run(work, done, failed, on=SYSTEM)

    def mark_seen(self) -> None:
        """Remember that the user has seen the listed models: at the next start, none is new."""
        if self.last_offers is not None:
            ids = [model.id for model in self.last_offers.listed]
            self._tasks.run(
                lambda: self._recommending.mark_seen(ids),
                lambda _: None,
                self.crashed.emit,
                on=SYSTEM,
            )
