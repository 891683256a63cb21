"""Looks at the computer, and at what suits it, when the welcome is there to show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QTimer

if TYPE_CHECKING:
    from app.presenters.window import WindowServices
    from app.ui.onboarding.welcome import Welcome

_CALM_MS = 300
"""The window comes first: what is looked for takes memory and a processor."""


class FirstLook(QObject):
    """Each look once; `welcome` is told by who connects the services to it."""

    def __init__(self, welcome: Welcome, services: WindowServices) -> None:
        super().__init__(welcome)
        self._welcome = welcome
        self._services = services
        self._checked = self._recommended = False
        self._calm = QTimer(self)
        self._calm.setSingleShot(True)
        self._calm.setInterval(_CALM_MS)
        self._calm.timeout.connect(self._look)
        welcome.installEventFilter(self)
        for changed in (services.chats.changed, services.settings.changed, services.models.listed):
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
            self._services.system.check()
        if self._welcome.shows_offer and not self._recommended:
            self._recommended = True
            self._services.suggestions.recommend()
