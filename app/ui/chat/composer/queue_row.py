"""One message that waits for its turn."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.chats.tree import first_words
from app.core.chats.waiting import Waiting
from app.ui.chat.transcript.inline_edit import InlineEdit
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label

_MODEL = 140
"""Pixels; the widest that the name of a model runs."""


_WORDS = 64
"""Pixels; the least that is seen of the message."""


class QueueRow(QWidget):
    """act(name, item): send, up, down or remove. changed(item, text): it was edited.

    number, count: where it stands. model: the name of the one it goes to, if that is not the
    chat's. going: it goes out by itself. marked: it is to say so if it does not. resized(): it
    takes another height now.
    """

    act = Signal(str, object)
    changed = Signal(object, str)
    resized = Signal()

    def __init__(
        self,
        item: Waiting,
        number: int,
        count: int,
        model: str,
        *,
        going: bool,
        marked: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.item = item
        self.setObjectName(f"waiting-{item.id}")
        self._editor: InlineEdit | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._line = QWidget()
        row = QHBoxLayout(self._line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        words = ElidedLabel(first_words(item.text), name=f"waitingText{number}")
        words.setToolTip(item.text[:1000])
        words.setMinimumWidth(_WORDS)
        row.addWidget(words, 1)
        if model:
            badge = ElidedLabel(model, "badge", f"waitingModel{number}")
            badge.setMaximumWidth(_MODEL)
            row.addWidget(badge, 0, Qt.AlignmentFlag.AlignVCenter)
            row.addSpacing(4)
        if marked and not going:
            row.addWidget(Label(self.tr("not sent"), "caution", name=f"waitingHeld{number}"))
            row.addSpacing(4)
        for drawing, text, name, enabled in (
            ("play", self.tr("Send now"), "send", True),
            ("up", self.tr("Earlier"), "up", number > 1),
            ("lower", self.tr("Later"), "down", number < count),
            ("pencil", self.tr("Edit"), "edit", True),
            ("trash", self.tr("Remove"), "remove", True),
        ):
            button = IconButton(drawing, text, f"waiting{name.title()}{number}", size=16)
            button.setAccessibleName(self.tr("{0}: waiting message {1}").format(text, number))
            button.setEnabled(enabled)
            button.clicked.connect(lambda _=False, name=name: self._act(name))
            row.addWidget(button)
        self._column.addWidget(self._line)

    @property
    def edited(self) -> str | None:
        """What is being written in place of it; None if nothing is."""
        return self._editor.text if self._editor is not None else None

    def edit(self, text: str) -> None:
        note = self.tr("It keeps its place.")
        self._editor = InlineEdit(self.item.text, text, note, sends=False)
        self._editor.done.connect(lambda changed: self.changed.emit(self.item, changed))
        self._editor.cancelled.connect(lambda _: self._close())
        self._line.hide()
        self._column.addWidget(self._editor)
        self._editor.show()
        self._editor.changed.connect(lambda _: self.resized.emit())
        self._editor.focus()
        self.resized.emit()

    def _act(self, name: str) -> None:
        if name == "edit":
            self.edit(self.item.text)
        else:
            self.act.emit(name, self.item)

    def _close(self) -> None:
        if self._editor is not None:
            self._editor.hide()
            self._editor.deleteLater()
            self._editor = None
        self._line.show()
        self.resized.emit()
