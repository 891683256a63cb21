"""The line under a message: its branches, and its actions while they are wanted."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QAbstractButton, QApplication, QHBoxLayout, QWidget

from app.core.chats.conversation import StoredMessage
from app.core.chats.tree import Fork
from app.ui.chat.transcript.answer_footer import AnswerFooter
from app.ui.chat.transcript.branch_bar import BranchBar
from app.ui.chat.transcript.question_footer import QuestionFooter

_HEIGHT = 32
"""Pixels; kept free under every message, so that nothing moves when its actions come."""
_GAP = 6
"""Pixels between an answer's line and the next question."""


class MessageTail(QWidget):
    """act(name), go(step): what was asked for. text: shows the message.

    The buttons are made when they are first wanted, and taken away with the pointer and the
    keyboard's focus: a long chat would have hundreds of them.
    """

    act = Signal(str)
    go = Signal(int)

    def __init__(
        self, message: StoredMessage, text: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._text = text
        self._message = message
        self._wanted = False
        self._last = False
        self._bar: BranchBar | None = None
        self._footer: AnswerFooter | QuestionFooter | None = None
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._is_question = message.role == "user"
        if self._is_question:
            self._row.addStretch(1)
        else:
            self._row.setContentsMargins(0, 0, 0, _GAP)

    def sizeHint(self) -> QSize:
        return super().sizeHint().expandedTo(self.minimumSizeHint())

    def minimumSizeHint(self) -> QSize:
        gap = 0 if self._is_question else _GAP
        return QSize(0, max(_HEIGHT + gap, super().minimumSizeHint().height()))

    def show_message(self, message: StoredMessage) -> None:
        """It is in another state, or rated in another way, than it was."""
        self._message = message
        self._renew()

    def set_last(self, last: bool) -> None:
        """Whether it ends what is shown; the actions of that answer stay in sight."""
        if last != self._last:
            self._last = last
            self._renew()

    def want(self, wanted: bool) -> None:
        """Whether the pointer or the focus is on the message."""
        if wanted != self._wanted:
            self._wanted = wanted
            if self._has_footer != self._shows:
                self._renew()

    def show_fork(self, fork: Fork | None) -> None:
        """The others beside it, if there are any."""
        if self._bar is not None:
            self._bar.hide()
            self._bar.deleteLater()
            self._bar = None
        if fork is not None:
            self._bar = BranchBar(fork)
            self._bar.go.connect(self.go)
            place = self._row.count() if self._is_question else 0
            self._row.insertWidget(place, self._bar, 0, Qt.AlignmentFlag.AlignLeft)
            self._bar.show()
            self._order()

    @property
    def _has_footer(self) -> bool:
        return self._footer is not None

    @property
    def _shows(self) -> bool:
        message = self._message
        if self._is_question:
            return self._wanted
        # A failed answer without text has its own card with a button.
        ended = message.state != "streaming" and (message.text or message.state != "failed")
        return bool(ended) and (self._wanted or self._last)

    def _renew(self) -> None:
        old, self._footer = self._footer, None
        focused = QApplication.focusWidget()
        name = ""
        if old is not None:
            if focused is not None and old.isAncestorOf(focused):
                name = focused.objectName()
                self._text.setFocus()
            old.hide()
            old.deleteLater()
        if self._shows and self._footer is None:
            made = self._make_footer()
            again = made.findChild(QWidget, name) if name else None
            if isinstance(again, QWidget):
                again.setFocus()

    def _make_footer(self) -> QWidget:
        if self._is_question:
            self._footer = QuestionFooter()
            place = 1
        else:
            self._footer = AnswerFooter(self._message, last=self._last)
            place = 0 if self._bar is None else 1
        self._footer.act.connect(self.act)
        self._row.insertWidget(place, self._footer, 0 if self._is_question else 1)
        self._footer.show()
        self._order()
        return self._footer

    def _order(self) -> None:
        """With Tab, the text of the message comes first, then this line from left to right."""
        before = self._text
        # Not asked of the layout: the items that it hands out outlive it in Python, and crash.
        parts = (self._footer, self._bar) if self._is_question else (self._bar, self._footer)
        for part in parts:
            for button in part.findChildren(QAbstractButton) if part is not None else ():
                QWidget.setTabOrder(before, button)
                before = button
