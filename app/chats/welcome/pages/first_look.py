"""The check of the computer and the search for suitable models, while the welcome is visible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from app.kit.timer import timer

if TYPE_CHECKING:
    from app.chats.welcome.pages.welcome import Welcome
    from app.window.presenters.window import WindowPresenters

_CALM_MS = 300
"""The delay in milliseconds, so that the window comes first: the check takes memory and time."""


class FirstLook(QObject):
    """Starts each check once; the owner of `welcome` connects the presenters with it."""

    def __init__(self, welcome: Welcome, presenters: WindowPresenters) -> None:
        super().__init__(welcome)
        self._welcome = welcome
        self._presenters = presenters
        self._checked = self._recommended = False
        self._calm = timer(self, _CALM_MS, self._look)
        welcome.installEventFilter(self)
        for changed in (
            presenters.chats.changed,
            presenters.settings.changed,
            presenters.models.listed,
        ):
            changed.connect(self._calm.start)
        self._calm.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Show:
            self._calm.start()
        return super().eventFilter(watched, event)

    def _look(self) -> None:
        if not self._welcome.isVisible():
            return
        if self._welcome.shows_computer and not self._checked:
            self._checked = True
            self._presenters.system.check()
        if self._welcome.shows_offer and not self._recommended:
            self._recommended = True
            self._presenters.suggestions.recommend()
