"""The composer, in which the user writes and sends messages and stops answers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.chats.composer.pages.attachment_strip import AttachmentStrip
from app.chats.composer.pages.message_edit import MessageEdit
from app.chats.composer.pages.options_row import Fill, OptionsRow
from app.kit.look.scale import scaled
from app.kit.look.theme import BAR, COLUMN, GRID
from app.kit.timer import timer
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.menu import Menu
from app.kit.widgets.menu_button import pop_up
from app.kit.widgets.panel import Panel

_NARROW = 420
"""The width of the composer in pixels below which its margins are smaller."""


class Composer(QWidget):
    """The composer.

    Attributes:
        options: The switches for the next message, in one line with the send button.
        above: The layout for lines above the message that say something about it.
        attached: The attachments of the message.
        may_send: Called with the text before a message is sent; if it returns False, the text
            stays in the composer.

    Signals:
        send(text, model): The user sends a message. `model` is the id of the model that answers,
            or None for the chat's model.
        stop(): The user wants to stop the answer.
        changed(): The text or the attachments have changed.
        attach(): The user wants to choose files.
        record(): The user wants to record with the microphone.
    """

    send = Signal(str, object)
    stop = Signal()
    changed = Signal()
    attach = Signal()
    record = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answering = False
        middle = QWidget(self)
        middle.setMaximumWidth(COLUMN)
        self._panel = Panel(
            "composer", "composer", margins=(2, 1.5, 1, 1), spacing=0.5, parent=middle
        )
        self.attached = AttachmentStrip(self._panel)
        self.attached.changed.connect(self._change)
        self.attached.unfolded.connect(self._unfold)
        self._pending_model: tuple[str | None] | None = None
        self.edit = MessageEdit(self._panel, keeps_pastes=False)
        self.edit.pasted.connect(self.attached.add)
        self.edit.send.connect(lambda: self.submit())  # noqa: PLW0108 - takes a model
        self.edit.textChanged.connect(self._text_edited)
        self.edit.installEventFilter(self)
        self._focus_soon = timer(self, 0, self._show_focus)
        self._button = IconButton(
            "send", "", "send", look="send", tone="on_accent", size=20, parent=self._panel
        )
        self._button.clicked.connect(self._submit_or_stop)
        self._stop = IconButton("stop", self.tr("Stop"), "stopAnswer", size=20, parent=self._panel)
        self._stop.clicked.connect(self.stop)
        self._more = IconButton(
            "more", self.tr("More for this message"), "moreForMessage", size=20, parent=self._panel
        )
        self._more.clicked.connect(self._open_menu)
        self._more.hide()
        self._attach = IconButton(
            "attach", self.tr("Attach files"), "attachFiles", size=20, parent=self._panel
        )
        self._attach.clicked.connect(self.attach)
        self._attach.hide()
        self._record = IconButton(
            "microphone", self.tr("Record a sound"), "recordSound", size=20, parent=self._panel
        )
        self._record.clicked.connect(self.record)
        self._record.hide()
        self._in_menu: list[Fill] = []
        self._keys = ""
        self.options = OptionsRow(self._panel)
        self._permanent_row = QHBoxLayout()
        self._permanent_widgets: list[QWidget] = []
        self.above = QVBoxLayout()
        self.may_send: Callable[[str], bool] = lambda _: True
        self._across = QHBoxLayout(self)
        self._lay_out(middle)
        self._show_button()

    def _lay_out(self, middle: QWidget) -> None:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self._attach)
        row.addWidget(self._record)
        row.addWidget(self.options, 1)
        row.addLayout(self._permanent_row)
        row.addWidget(self._more)
        row.addWidget(self._stop)
        row.addWidget(self._button)
        self._panel.box.addWidget(self.attached)
        self._panel.box.addWidget(self.edit)
        self._panel.box.addLayout(row)
        across = self._across
        across.setContentsMargins(3 * GRID + BAR, 0, 3 * GRID + BAR, GRID)
        across.addStretch(1)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(self.above)
        column.addWidget(self._panel)
        across.addWidget(middle, 1000)
        across.addStretch(1)

    @property
    def text(self) -> str:
        """The written text, followed by the pasted texts."""
        return "\n\n".join(filter(None, [self.edit.toPlainText(), *self.attached.texts]))

    @property
    def has_content(self) -> bool:
        """True if there is a text, a word that is being composed, or a file to send."""
        return bool(self.text.strip() or self.edit.composed) or self.attached.has_files

    def order_tabs(self) -> None:
        """Set the order of the Tab key from left to right; call it after adding all widgets."""
        chain = [
            self.edit,
            self._attach,
            self._record,
            *self.options.widgets,
            *self._permanent_widgets,
            self._more,
            self._stop,
            self._button,
        ]
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)

    def set_text(self, text: str) -> None:
        """Replace the text and the pasted texts, with the cursor at the end."""
        self.attached.clear_texts()
        self.edit.setPlainText(text)
        cursor = self.edit.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.edit.setTextCursor(cursor)

    def set_answering(self, answering: bool) -> None:
        """Set whether an answer is being written; then the button stops it, and messages wait."""
        self._answering = answering
        self._show_button()

    def set_send_with(self, keys: str) -> None:
        """Set the keys that send, a value of the setting `send_with`."""
        self.edit.set_send_with(keys)
        if keys == "enter":
            self._keys = self.tr("Enter sends, Shift+Enter makes a new line")
        else:
            self._keys = self.tr("Ctrl+Enter sends, Enter makes a new line")
        self.edit.setAccessibleDescription(self._keys)
        self._show_button()

    def add_permanent_widget(self, widget: QWidget) -> None:
        """Add a widget to the line that is always visible."""
        self._permanent_widgets.append(widget)
        self._permanent_row.addWidget(widget)

    def add_to_menu(self, fill: Fill) -> None:
        """Add entries to the menu of rarely used options; `fill` is called when the menu opens."""
        self._in_menu.append(fill)
        self._more.show()

    def enable_attaching(self) -> None:
        """Show the button that attaches files; call it after connecting `attach`."""
        self._attach.show()
        self.edit.takes_files = True

    def show_microphone(self, shown: bool) -> None:
        """Show or hide the microphone button."""
        self._record.setVisible(shown)

    def set_assistant(self, name: str) -> None:
        """Show the assistant's name in the empty message field."""
        self.edit.setPlaceholderText(self.tr("Message {name}").format(name=name))
        self.edit.viewport().update()  # Qt does not repaint a new placeholder at once

    def focus(self) -> None:
        """Focus the message field."""
        if not self.isVisible():
            self._panel.setProperty("focused", True)  # so that it is first painted with the focus
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use smaller margins if the composer is narrow."""
        super().resizeEvent(event)
        narrow = event.size().width() < scaled(_NARROW)
        side = 2 * GRID if narrow else 3 * GRID + BAR
        self._across.setContentsMargins(side, 0, side, GRID)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the frame when the message field gains or loses the focus."""
        if event.type() in {QEvent.Type.FocusIn, QEvent.Type.FocusOut}:
            self._focus_soon.start()
        return super().eventFilter(watched, event)

    def _show_focus(self) -> None:
        """Show the focus after it has settled, as a new parent takes it away for a moment."""
        has_focus = self.edit.hasFocus()
        if self._panel.property("focused") != has_focus:
            self._panel.setProperty("focused", has_focus)
            self._panel.style().unpolish(self._panel)
            self._panel.style().polish(self._panel)

    def _open_menu(self) -> None:
        menu = Menu(self._more)
        menu.setObjectName("messageOptions")
        menu.aboutToHide.connect(menu.deleteLater)
        for fill in (self.options.fill, *self._in_menu):
            fill(menu)
        pop_up(menu, self._more)

    def _submit_or_stop(self) -> None:
        if self.has_content:
            self.submit()
        elif self._answering:
            self.stop.emit()

    def submit(self, model: str | None = None) -> None:
        """Send the message with its attachments.

        Files that cannot be sent stay out. If a file is still being read, the message is sent after
        that.

        Args:
            model: The id of the model that answers; None for the chat's model.
        """
        self.edit.commit()
        text = self.text.strip()
        if self.attached.refused and not self.has_content:
            self.attached.show_refused()
        elif self.has_content and self.attached.is_reading:
            self._send_when_read((model,))
        # `may_send` knows only for the chat's own model whether the message fits.
        elif self.has_content and (model is not None or self.may_send(text)):
            self.attached.clear_texts()
            self.edit.clear()
            self.send.emit(text, model)

    def _send_when_read(self, model: tuple[str | None] | None) -> None:
        """Send the message automatically once all files are read.

        Args:
            model: The model, in a tuple; None cancels automatic sending.
        """
        self._pending_model = model
        self.attached.show_waiting(model is not None)

    def _unfold(self, text: str) -> None:
        cursor = self.edit.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        self.edit.setTextCursor(cursor)
        self.edit.insertPlainText(f"\n\n{text}" if self.edit.toPlainText() else text)
        self.edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _text_edited(self) -> None:
        """Cancel automatic sending when the user edits."""
        if self._pending_model is not None:
            self._send_when_read(None)
        self._change()

    def _change(self) -> None:
        self._show_button()
        self.changed.emit()
        pending = self._pending_model
        if pending is not None and not self.attached.is_reading:
            self._send_when_read(None)
            # The user expected all files to be read, and decides whether to send without some.
            if not self.attached.refused:
                self.submit(*pending)

    def _show_button(self) -> None:
        has_content = self.has_content
        stops = self._answering and not has_content
        self._button.redraw("stop" if stops else "send", "on_accent")
        if stops:
            self._button.rename(self.tr("Stop"))
        else:
            later = self.tr("Send after this answer")
            words = later if self._answering else self.tr("Send")
            self._button.rename(self._without_refused() or words)
            self._button.setToolTip(f"{self._button.accessibleName()}\n{self._keys}".strip())
        self._button.setEnabled(has_content or self._answering)
        self._stop.setVisible(self._answering and has_content)
        self._say_refused()

    def _without_refused(self) -> str:
        """Return the name of the button if files stay out; "" if all can be sent."""
        count = self.attached.refused
        if count == 1:
            return self.tr("Send without 1 file")
        return self.tr("Send without {count} files").format(count=count) if count else ""

    def _say_refused(self) -> None:
        """Say in one line what becomes of the files that cannot be sent."""
        count = self.attached.refused
        if not count:
            words = ""
        elif not self.has_content:
            words = self.tr("Nothing can be sent yet. A click on a red file shows why.")
        elif count == 1:
            words = self.tr("1 file cannot be sent; the message goes without it.")
        else:
            words = self.tr("{count} files cannot be sent; the message goes without them.").format(
                count=count
            )
        self.attached.say_refused(words)
