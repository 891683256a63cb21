"""Taking the words of messages elsewhere: to the clipboard, or as a quotation into the composer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication, QTextCursor

if TYPE_CHECKING:
    from app.core.chats.conversation import StoredMessage
    from app.ui.chat.composer.composer import Composer
    from app.ui.chat.transcript.transcript import Transcript
    from app.ui.notify import Notifier


class Copying(QObject):
    """so_far: what is known of a message now, which is more than the store has of a running one."""

    def __init__(
        self,
        transcript: Transcript,
        composer: Composer,
        so_far: Callable[[StoredMessage], StoredMessage],
        notifier: Notifier,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._composer = composer
        self._so_far = so_far
        self._notifier = notifier

    def copy(self, message: StoredMessage) -> None:
        """As Markdown."""
        self._put_on_clipboard(self._so_far(message).text)

    def copy_plain(self, message: StoredMessage) -> None:
        """As it is read, without markup."""
        from app.ui.chat.transcript.quoting import plain_text

        view = self._transcript.view_of(message.id)
        if view is not None:
            cursor = QTextCursor(view.view.document())
            cursor.select(QTextCursor.SelectionType.Document)
            self._put_on_clipboard(plain_text(cursor))

    def copy_selection(self, message: StoredMessage) -> None:
        from app.ui.chat.transcript.quoting import plain_text

        view = self._transcript.view_of(message.id)
        if view is not None:
            self._put_on_clipboard(plain_text(view.view.textCursor()))

    def quote(self, message: StoredMessage) -> None:
        """What is selected, or all of it, behind what is written in the composer."""
        from app.ui.chat.transcript.quoting import quotation, selected_markdown

        view = self._transcript.view_of(message.id)
        selected = selected_markdown(view.view.textCursor()) if view is not None else ""
        written = self._composer.text.rstrip("\n")
        before = f"{written}\n\n" if written else ""
        self._composer.set_text(f"{before}{quotation(selected or message.text)}")
        self._composer.focus()

    def _put_on_clipboard(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._notifier.say_copied()
