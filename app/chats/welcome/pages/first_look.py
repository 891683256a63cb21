"""The check of the computer and the search for suitable models, while the welcome is visible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, SignalInstance

from app.kit.timer import timer

if TYPE_CHECKING:
    from app.chats.welcome.pages.welcome import Welcome
    from app.models.discover.presenters.suggestions import Suggestions
    from app.models.presenters import SystemService

_DELAY_MS = 300
"""The delay in milliseconds, so that the window comes first: the check takes memory and time."""


class FirstLook(QObject):
    """The checks during the first welcome, each started once.

    The owner of `welcome` connects the presenters with it.

    Args:
        changes: Signals after which the welcome can show more or less than before.
    """

    def __init__(
        self,
        welcome: Welcome,
        system: SystemService,
        suggestions: Suggestions,
        changes: Iterable[SignalInstance],
    ) -> None:
        super().__init__(welcome)
        self._welcome = welcome
        self._system = system
        self._suggestions = suggestions
        self._checked = self._recommended = False
        self._delay = timer(self, _DELAY_MS, self._begin_checks)
        welcome.installEventFilter(self)
        for changed in changes:
            changed.connect(self._delay.start)
        self._delay.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin the checks when the welcome is shown."""
        if event.type() is QEvent.Type.Show:
            self._delay.start()
        return super().eventFilter(watched, event)

    def _begin_checks(self) -> None:
        if not self._welcome.isVisible():
            return
        if self._welcome.shows_computer and not self._checked:
            self._checked = True
            self._system.check()
        if self._welcome.shows_offer and not self._recommended:
            self._recommended = True
            self._suggestions.recommend()
