"""Switches between offline and online for every part of the window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.base.errors import Offline
from app.kit.notify import Notifier
from app.settings.values.fields import Settings
from engines.errors import UserError

if TYPE_CHECKING:
    from app.window.presenters.window import WindowPresenters


class GoingOnline(QObject):
    """The switch between offline and online.

    Signals:
        changed(offline): The state has changed, or `announce` was called.
    """

    changed = Signal(bool)

    def __init__(self, presenters: WindowPresenters, notifier: Notifier, parent: QObject) -> None:
        super().__init__(parent)
        self._presenters = presenters
        self._notifier = notifier
        self._was = presenters.is_offline
        presenters.settings.changed.connect(self._apply)

    def announce(self) -> None:
        """Emit `changed` with the current state."""
        self.changed.emit(self._presenters.is_offline)

    def toggle(self) -> None:
        """Go offline, or online again, unless Hearth was started offline."""
        self._set(not self._presenters.is_offline)

    def go_online(self) -> None:
        """Go online, unless Hearth was started offline."""
        self._set(False)

    def _set(self, offline: bool) -> None:
        if self._presenters.stays_offline:
            self._notifier.say(self.tr("Hearth was started offline and stays offline."))
            self.announce()
            return
        try:
            self._presenters.settings.set("offline", offline)
        except UserError as error:
            self._notifier.error(error)
        self.announce()

    def _apply(self, _settings: Settings) -> None:
        offline = self._presenters.is_offline
        if offline == self._was:
            return
        self._was = offline
        self.announce()
        if not offline:
            self._presenters.downloads.resume_stopped_by(Offline.code)
