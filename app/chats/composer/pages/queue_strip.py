"""The strip above the composer with the messages that wait for their turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.chats.history.values.tree import first_words
from app.chats.history.values.waiting import Waiting
from app.chats.transcript.pages.inline_edit import InlineEdit
from app.kit.look.theme import BAR, COLUMN, GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel

if TYPE_CHECKING:
    from app.chats.history.values.waiting import Waiting


_MODEL = 140
"""The maximum width of the name of a model in pixels."""


_WORDS = 64
"""The minimum width of the message's text in pixels."""


class QueueRow(QWidget):
    """A waiting message; `place` shows its position.

    Args:
        item: The message.
        model: The name of the model that answers, if it is not the chat's; else "".

    Signals:
        act(name, item): The user wants an action: send, up, down or remove.
        changed(item, text): The user edited the message.
        resized(): The row has another height.
    """

    act = Signal(str, object)
    changed = Signal(object, str)
    resized = Signal()

    def __init__(self, item: Waiting, model: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.item = item
        self.model = model
        self.setObjectName(f"waiting-{item.id}")
        self._editor: InlineEdit | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._line = QWidget()
        row = QHBoxLayout(self._line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        self._words = ElidedLabel(first_words(item.text))
        self._words.setToolTip(item.text[:1000])
        self._words.setMinimumWidth(_WORDS)
        row.addWidget(self._words, 1)
        self._files = Label(self._count(len(item.attachments)), "badge")
        self._files.setToolTip("\n".join(file.name for file in item.attachments))
        row.addWidget(self._files, 0, Qt.AlignmentFlag.AlignVCenter)
        self._files.setVisible(bool(item.attachments))
        self._badge = ElidedLabel(model, "badge")
        self._badge.setMaximumWidth(_MODEL)
        row.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignVCenter)
        self._badge.setVisible(bool(model))
        self._not_sent_label = Label(self.tr("not sent"), "caution")
        self._not_sent_label.setContentsMargins(0, 0, 4, 0)
        row.addWidget(self._not_sent_label)
        self._buttons: dict[str, tuple[IconButton, str]] = {}
        for drawing, text, name in (
            ("play", self.tr("Send now"), "send"),
            ("up", self.tr("Earlier"), "up"),
            ("lower", self.tr("Later"), "down"),
            ("pencil", self.tr("Edit"), "edit"),
            ("trash", self.tr("Remove"), "remove"),
        ):
            button = IconButton(drawing, text, name, size=16)
            button.clicked.connect(lambda _=False, name=name: self._act(name))
            self._buttons[name] = (button, text)
            row.addWidget(button)
        self._column.addWidget(self._line)

    def place(self, item: Waiting, number: int, count: int, *, unsent: bool) -> None:
        """Show the position of the message among the others.

        Args:
            item: The message.
            number: Its position, starting at 1.
            count: The number of waiting messages.
            unsent: Whether to show that it was not sent.
        """
        self.item = item
        self._words.setObjectName(f"waitingText{number}")
        self._badge.setObjectName(f"waitingModel{number}")
        self._files.setObjectName(f"waitingFiles{number}")
        self._not_sent_label.setObjectName(f"waitingHeld{number}")
        self._not_sent_label.setVisible(unsent)
        for name, (button, text) in self._buttons.items():
            button.setObjectName(f"waiting{name.title()}{number}")
            button.setAccessibleName(
                self.tr("{text}: waiting message {number}").format(text=text, number=number)
            )
        self._buttons["up"][0].setEnabled(number > 1)
        self._buttons["down"][0].setEnabled(number < count)

    @property
    def edited(self) -> str | None:
        """The text in the editor; None if the message is not being edited."""
        return self._editor.text if self._editor is not None else None

    def edit(self, text: str) -> None:
        """Open an editor in place of the message, starting with this text."""
        note = self.tr("The message keeps its place in the queue.")
        self._editor = InlineEdit(self.item.text, text, note, sends=False)
        self._editor.done.connect(self._edited)
        self._editor.cancelled.connect(lambda _: self._close())
        self._line.hide()
        self._column.addWidget(self._editor)
        self._editor.show()
        self._editor.changed.connect(lambda _: self.resized.emit())
        self._editor.focus()
        self.resized.emit()

    def _count(self, files: int) -> str:
        return self.tr("1 file") if files == 1 else self.tr("{files} files").format(files=files)

    def _edited(self, text: str) -> None:
        self._close()
        self.changed.emit(self.item, text)

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


_MOST_HEIGHT = 190
"""The maximum height in pixels; beyond it the messages scroll, so that the chat stays visible."""


class QueueStrip(QWidget):
    """The strip with the waiting messages.

    Signals:
        act(name, item): As in `QueueRow`.
        changed(item, text): As in `QueueRow`.
        send_all(): The user wants to send all messages that were not sent.
    """

    act = Signal(str, object)
    changed = Signal(object, str)
    send_all = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queueStrip")
        self._rows: list[QueueRow] = []
        panel = Panel("card", "queueCard", margins=(1.5, 0.75, 1, 0.75), spacing=0.5)
        panel.setAccessibleName(self.tr("Waiting messages"))
        self._head = Label("", "small", name="queueHead")
        self._send = QPushButton(self.tr("Send"))
        self._send.setObjectName("queueSend")
        self._send.setAccessibleName(self._send.text())
        self._send.setProperty("look", "link")
        self._send.clicked.connect(self.send_all)
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(self._head, 1)
        head.addWidget(self._send)
        panel.box.addLayout(head)
        self._inside = QWidget()
        self._inside.setProperty("look", "page")
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(self._inside)
        panel.box.addWidget(self._area)
        across = QHBoxLayout(self)
        across.setContentsMargins(3 * GRID + BAR, 0, 3 * GRID + BAR, GRID)
        across.addStretch(1)
        panel.setMaximumWidth(COLUMN)
        across.addWidget(panel, 1000)
        across.addStretch(1)
        self.hide()

    def show_items(
        self,
        items: Sequence[Waiting],
        will_be_sent: Callable[[Waiting], bool],
        model_of: Callable[[Waiting], str],
    ) -> None:
        """Show the messages. An open editor stays open and keeps its text.

        Args:
            items: The messages.
            will_be_sent: Returns whether a message will be sent automatically.
            model_of: Returns the name of the model that answers, if it is not the chat's; else "".
        """
        old_rows = {row.item.id: row for row in self._rows}
        unsent = sum(not will_be_sent(item) for item in items)
        self._rows = []
        for number, item in enumerate(items, start=1):
            row = self._row_of(old_rows.get(item.id), item, model_of(item))
            is_unsent = unsent < len(items) and not will_be_sent(item)
            row.place(item, number, len(items), unsent=is_unsent)
            if self._column.indexOf(row) != number - 1:
                self._column.insertWidget(number - 1, row)
            row.show()
            self._rows.append(row)
        for row in set(old_rows.values()).difference(self._rows):
            row.hide()
            row.deleteLater()
        self._head.setText(self._words(len(items), unsent))
        self._send.setVisible(bool(unsent))
        self._send.setText(self.tr("Send") if len(items) == 1 else self.tr("Send all"))
        self._send.setAccessibleName(self._send.text())
        self._fit()
        self.setVisible(bool(items))

    def _row_of(self, old_row: QueueRow | None, item: Waiting, model: str) -> QueueRow:
        """Return the row of a message: the old one if its text and model are the same."""
        if old_row is not None and (old_row.item.text, old_row.model) == (item.text, model):
            return old_row
        row = QueueRow(item, model)
        row.act.connect(self.act)
        row.changed.connect(self.changed)
        row.resized.connect(self._fit)
        if old_row is not None and old_row.edited is not None:
            row.edit(old_row.edited)
        return row

    def _fit(self) -> None:
        height = sum(row.sizeHint().height() for row in self._rows)
        self._area.setFixedHeight(min(_MOST_HEIGHT, height))

    def _words(self, count: int, unsent: int) -> str:
        if unsent:
            return (
                self.tr("1 message was not sent")
                if unsent == 1
                else self.tr("{count} messages were not sent").format(count=unsent)
            )
        if count == 1:
            return self.tr("1 message is sent after this answer")
        return self.tr("{count} messages are sent one after the other").format(count=count)
