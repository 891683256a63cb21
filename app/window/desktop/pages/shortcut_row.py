"""A row in the list of shortcuts: a command, its shortcut, and a button to restore the default."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.chats.search.values.fuzzy import folded
from app.kit.look.theme import GRID
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.window.desktop.pages.key_button import KeyButton
from app.window.desktop.pages.keys import keys_of, shown
from app.window.pages.actions import WindowCommand


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
        usual = self.tr("Default keys of “{text}”").format(text=command.text)
        self._back = IconButton("again", usual, f"reset-{command.name}", size=16)
        self._back.clicked.connect(lambda: self.reset.emit(command.name))
        policy = self._back.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._back.setSizePolicy(policy)
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
        keys = shown(keys_of(self.command, changes))
        self._keys.show_keys(keys)
        self._back.setVisible(self.command.name in changes)
        self.words = folded(f"{self.command.text} {keys}")

    def show_problem(self, text: str) -> None:
        """Show why a shortcut was refused; "" hides the message."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
