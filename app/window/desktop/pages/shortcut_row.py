"""A row in the list of shortcuts: a command, its shortcut, and a button to restore the default."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.chats.search.values.fuzzy import folded
from app.kit.look.theme import GRID
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import keep_room
from app.window.desktop.pages.keys import keys_of, keys_text
from app.window.pages.actions import WindowCommand

_MODIFIER_KEYS = (
    Qt.Key.Key_Control,
    Qt.Key.Key_Shift,
    Qt.Key.Key_Alt,
    Qt.Key.Key_AltGr,
    Qt.Key.Key_Meta,
    Qt.Key.Key_unknown,
)
_REMOVES = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)


class ShortcutRow(QWidget):
    """A command and its shortcut.

    Attributes:
        words: The text by which the search finds the row, already `folded`.

    Signals:
        pressed_keys(name, keys): The user wants these keys for the command.
        reset(name): The user wants the default keys back.
    """

    pressed_keys = Signal(str, str)
    reset = Signal(str)

    def __init__(self, command: WindowCommand, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.command = command
        self.words = folded(command.text)
        self.setObjectName(f"shortcut-{command.name}")
        self._keys = KeyButton(f"keys-{command.name}", command.text)
        self._keys.pressed_keys.connect(lambda keys: self.pressed_keys.emit(command.name, keys))
        reset_text = self.tr("Default keys of “{text}”").format(text=command.text)
        self._back = IconButton("again", reset_text, f"reset-{command.name}", size=16)
        self._back.clicked.connect(lambda: self.reset.emit(command.name))
        keep_room(self._back)
        self._problem = Label("", "problem", name=f"problem-{command.name}", wrap=True)
        self._problem.hide()
        line = QHBoxLayout()
        line.setSpacing(GRID)
        line.addWidget(Label(command.text, wrap=True), 1)
        line.addWidget(self._back)
        line.addWidget(self._keys)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(line)
        column.addWidget(self._problem)

    def show_changes(self, changes: Mapping[str, str]) -> None:
        """Show the command's shortcut after the user's changes."""
        keys = keys_text(keys_of(self.command, changes))
        self._keys.show_keys(keys)
        self._back.setVisible(self.command.name in changes)
        self.words = folded(f"{self.command.text} {keys}")

    def show_problem(self, text: str) -> None:
        """Show why a shortcut was refused; "" hides the message."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))


class KeyButton(QPushButton):
    """A button that records a shortcut.

    While it is recording, Esc cancels, Tab moves the focus on, and no shortcut of the window runs.

    Signals:
        pressed_keys(keys): The user pressed these keys, in Qt's portable spelling; "" if Backspace
            or Delete removed the shortcut.
    """

    pressed_keys = Signal(str)

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._title = title
        self._keys = ""
        self._is_recording = False
        self.setProperty("look", "key")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda: self._set_recording(True))

    def show_keys(self, keys: str) -> None:
        """Show a shortcut in this system's spelling, and stop recording."""
        self._keys = keys
        self._set_recording(False)

    def event(self, event: QEvent) -> bool:
        """Keep the window's shortcuts from running while keys are recorded."""
        if self._is_recording and event.type() is QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Record the pressed keys."""
        if not self._is_recording:
            super().keyPressEvent(event)
            return
        key, without_modifiers = event.key(), event.modifiers() == Qt.KeyboardModifier.NoModifier
        if key in _MODIFIER_KEYS:
            return
        if without_modifiers and key == Qt.Key.Key_Escape:
            self._set_recording(False)
        elif without_modifiers and key in _REMOVES:
            self._set_recording(False)
            self.pressed_keys.emit("")
        else:
            self._set_recording(False)
            pressed = QKeySequence(event.keyCombination())
            self.pressed_keys.emit(pressed.toString(QKeySequence.SequenceFormat.PortableText))

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Stop recording."""
        super().focusOutEvent(event)
        self._set_recording(False)

    def _set_recording(self, recording: bool) -> None:
        self._is_recording = recording
        self.setProperty("listens", recording)
        self.style().unpolish(self)
        self.style().polish(self)
        none = self.tr("None")
        self.setText(self.tr("Press the keys…") if recording else self._keys or none)
        self.setAccessibleName(f"{self._title}: {self._keys or none}")
        self.setAccessibleDescription(
            self.tr("Press the keys; Esc cancels, Backspace removes them.") if recording else ""
        )
