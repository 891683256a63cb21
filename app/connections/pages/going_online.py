"""Switches between offline and online for every part of the window."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.kit.notify import Notifier
from app.settings.presenters import SettingsService
from engines.errors import UserError


class GoingOnline(QObject):
    """The switch between offline and online.

    Attributes:
        stays_offline: Whether this run stays offline, whatever the settings say.

    Signals:
        changed(offline): The state has changed, or `announce` was called.
        went_online(): The user went online.
    """

    changed = Signal(bool)
    went_online = Signal()

    def __init__(
        self, settings: SettingsService, notifier: Notifier, parent: QObject, *, stays_offline: bool
    ) -> None:
        super().__init__(parent)
        self.stays_offline = stays_offline
        self._settings = settings
        self._notifier = notifier
        self._was = self.is_offline
        settings.changed.connect(self._apply)

    @property
    def is_offline(self) -> bool:
        """True if Hearth is offline now, by the settings or for the whole run."""
        return self.stays_offline or self._settings.current.offline

    def announce(self) -> None:
        """Emit `changed` with the current state."""
        self.changed.emit(self.is_offline)

    def toggle(self) -> None:
        """Go offline, or online again, unless Hearth was started offline."""
        self._set(not self.is_offline)

    def go_online(self) -> None:
        """Go online, unless Hearth was started offline."""
        self._set(False)

    def _set(self, offline: bool) -> None:
        if self.stays_offline:
            self._notifier.say(self.tr("Hearth was started offline and stays offline."))
            self.announce()
            return
        try:
            self._settings.set("offline", offline)
        except UserError as error:
            self._notifier.error(error)
        self.announce()

    def _apply(self) -> None:
        offline = self.is_offline
        if offline == self._was:
            return
        self._was = offline
        self.announce()
        if not offline:
            self.went_online.emit()
