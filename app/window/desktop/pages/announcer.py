"""Notifies the user that a long answer is done while Hearth is in the background."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.history.values.conversation import StoredMessage
    from app.settings.presenters import SettingsService
    from app.window.desktop.pages.tray import Tray
    from app.window.presenters.notifications import Notifications

LONG_S = 10.0
"""An answer that takes at least this many seconds is announced."""

_FIRST_WORDS = 140
"""Number of characters of the answer in the notification, if the settings allow its text."""

_MARKUP = re.compile(
    r"[*`]+|^#+ |[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", re.MULTILINE
)
"""Markup and control characters that a notification cannot show."""


class Announcer(QObject):
    """Notifications about finished answers.

    Signals:
        open_chat(chat_id): The user clicked the notification about this chat.
    """

    open_chat = Signal(str)

    def __init__(
        self,
        generation: Generation,
        settings: SettingsService,
        notifications: Notifications,
        tray: Tray,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._notifications = notifications
        self._tray = tray
        self._began: dict[str, float] = {}
        self._announced_chat = ""
        generation.begun.connect(self._begun)
        generation.ended.connect(self._ended)
        notifications.clicked.connect(self.open_chat)
        tray.clicked.connect(lambda: self.open_chat.emit(self._announced_chat))

    @property
    def problem(self) -> str:
        """The reason why notifications cannot be shown, as a sentence; "" if they can."""
        if self._notifications.are_possible or self._tray.is_possible():
            return ""
        return self.tr("This desktop shows no notifications: it has neither a service nor a tray.")

    def _begun(self, answer: StoredMessage) -> None:
        self._began[answer.id] = time.monotonic()

    def _ended(self, answer: StoredMessage) -> None:
        duration_s = time.monotonic() - self._began.pop(answer.id, time.monotonic())
        is_active = QApplication.activeWindow() is not None
        if self._settings.current.notify and not is_active and duration_s >= LONG_S:
            self._announce(answer)

    def _announce(self, answer: StoredMessage) -> None:
        title, text = self._words(answer)
        if self._notifications.are_possible:
            self._notifications.show(title, text, answer.chat_id)
        elif self._tray.can_notify():
            self._announced_chat = answer.chat_id
            self._tray.notify(title, text)

    def _words(self, answer: StoredMessage) -> tuple[str, str]:
        """Return the title and the text, which quotes the answer only if the settings allow it."""
        if answer.state == "failed":
            return self.tr("An answer could not be finished"), self.tr("Open Hearth for details.")
        title = self.tr("Your answer is ready")
        if not self._settings.current.notify_text:
            return title, ""
        words = " ".join(_MARKUP.sub("", answer.text).split())
        return title, words if len(words) <= _FIRST_WORDS else f"{words[:_FIRST_WORDS].rstrip()}…"
