"""The tray icon, which keeps Hearth running when its window is closed."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon, QWidget

from app.kit.look.icons import app_icon
from app.settings.values.fields import Settings

LOOK_MS = 5_000
"""How often to look whether the desktop still has a tray, or has one by now, in milliseconds."""


class Tray(QObject):
    """The tray icon and its menu, shown while there is a tray and the settings want it.

    A desktop's tray can come later than Hearth, and it can go away.

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
        self._is_wanted = self._closes_to_tray = False
        self._has_hidden_window = False
        self._again = QTimer(self)
        self._again.setInterval(LOOK_MS)
        self._again.timeout.connect(self._look)
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
        self._is_wanted = settings.tray or settings.close_to_tray
        self._look()
        if self._is_wanted:
            self._again.start()
        else:
            self._again.stop()

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
        if watched is self._window:
            if event.type() is QEvent.Type.Close and self._hides_window():
                event.ignore()
                self._has_hidden_window = True
                self._window.hide()
                return True
            if event.type() is QEvent.Type.Show:
                self._has_hidden_window = False
        return super().eventFilter(watched, event)

    def _hides_window(self) -> bool:
        """Return whether closing the window hides it in the tray that is there now."""
        if not self._closes_to_tray or self._is_quitting:
            return False
        self._look()
        return self._icon.isVisible()

    def _look(self) -> None:
        """Show the icon if there is a tray now; without one, bring a hidden window back."""
        self._icon.setVisible(self._is_wanted and self.is_possible())
        if self._has_hidden_window and not self._icon.isVisible():
            self._window.showMinimized()  # in the task bar, so that it interrupts nobody

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        # On macOS every click opens the menu and is reported as well; opening the window too would
        # be too much.
        if reason is QSystemTrayIcon.ActivationReason.Trigger and sys.platform != "darwin":
            self.open.emit()
