"""The tray icon, which keeps Hearth running when its window is closed."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon, QWidget

from app.kit.look.icons import app_icon
from app.settings.values.fields import Settings


class Tray(QObject):
    """The tray icon and its menu, shown only if there is a tray and the settings want it.

    Signals:
        open(), ask(), new_chat(): The user chose this item of the menu.
        clicked(): The user clicked a notification.
    """

    open = Signal()
    ask = Signal()
    new_chat = Signal()
    clicked = Signal()

    def __init__(self, window: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window
        self._is_quitting = False
        self._closes_to_tray = False
        self._menu = QMenu(window)
        self._menu.setObjectName("trayMenu")
        self._icon = QSystemTrayIcon(app_icon(), self)
        self._icon.setToolTip("Hearth")
        self._icon.setContextMenu(self._menu)
        self._icon.activated.connect(self._activated)
        self._icon.messageClicked.connect(self.clicked)
        for name, text, chosen in (
            ("trayOpen", self.tr("Open Hearth"), self.open.emit),
            ("trayAsk", self.tr("Quick ask"), self.ask.emit),
            ("trayNewChat", self.tr("New chat"), self.new_chat.emit),
            ("trayQuit", self.tr("Quit"), self.quit),
        ):
            action = self._menu.addAction(text)
            action.setObjectName(name)
            action.triggered.connect(lambda _=False, chosen=chosen: chosen())
        window.installEventFilter(self)

    @property
    def problem(self) -> str:
        """The reason why there can be no tray icon, as a sentence; "" if there can."""
        if self.is_possible():
            return ""
        return self.tr("This desktop has no tray, so closing the window quits Hearth.")

    def is_possible(self) -> bool:
        """Return whether the desktop has a tray."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    def apply(self, settings: Settings) -> None:
        """Show or hide the icon as the settings say."""
        self._closes_to_tray = settings.close_to_tray
        self._icon.setVisible((settings.tray or settings.close_to_tray) and self.is_possible())

    def notify(self, title: str, text: str) -> None:
        """Show a notification through the tray icon."""
        self._icon.showMessage(title, text, app_icon())

    def can_notify(self) -> bool:
        """Return whether the icon is shown and can show notifications."""
        return self._icon.isVisible() and QSystemTrayIcon.supportsMessages()

    def quit(self) -> None:
        """Quit Hearth even if closing the window would hide it; a window can still refuse."""
        self._is_quitting = True
        QApplication.quit()
        self._is_quitting = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hide the window instead of closing it, if the tray icon can bring it back."""
        closes = watched is self._window and event.type() is QEvent.Type.Close
        if closes and self._closes_to_tray and self._icon.isVisible() and not self._is_quitting:
            event.ignore()
            self._window.hide()
            return True
        return super().eventFilter(watched, event)

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        # On macOS every click opens the menu and is reported as well; opening the window too would
        # be too much.
        if reason is QSystemTrayIcon.ActivationReason.Trigger and sys.platform != "darwin":
            self.open.emit()
