"""The shortcuts of every command: the defaults and the user's changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QCoreApplication, QKeyCombination, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.window.pages.actions import WindowCommand, commands

_FORMAT = QKeySequence.SequenceFormat.PortableText
_MODIFIERS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
_Text = QKeySequence.StandardKey
_OF_TEXT = (
    _Text.Copy,
    _Text.Cut,
    _Text.Paste,
    _Text.SelectAll,
    _Text.Undo,
    _Text.Redo,
    _Text.MoveToNextWord,
    _Text.MoveToPreviousWord,
    _Text.MoveToStartOfDocument,
    _Text.MoveToEndOfDocument,
    _Text.SelectNextWord,
    _Text.SelectPreviousWord,
    _Text.SelectStartOfDocument,
    _Text.SelectEndOfDocument,
    _Text.DeleteStartOfWord,
    _Text.DeleteEndOfWord,
    _Text.InsertParagraphSeparator,
    _Text.InsertLineSeparator,
)
"""Keys that a focused text field uses itself, including Enter, which sends a message."""

_tr = QCoreApplication.translate


def keys_of(command: WindowCommand, changes: Mapping[str, str]) -> list[QKeySequence]:
    """Return a command's shortcuts; none if the user removed them."""
    if command.name in changes:
        read = QKeySequence.listFromString(changes[command.name], _FORMAT)
        return [keys for keys in read if not keys.isEmpty()]
    return [QKeySequence(keys) for keys in command.keys]


def add_actions(window: QWidget, does: Mapping[str, Callable[[], object]]) -> None:
    """Add an action to the window for each command in `does`; call `give_keys` afterwards.

    Args:
        does: What each command does, by the command's name, which also becomes the action's name.
    """
    for command in commands():
        if command.name in does:
            action = QAction(command.text, window)
            action.setObjectName(command.name)
            action.triggered.connect(lambda _=False, do=does[command.name]: do())
            window.addAction(action)


def give_keys(window: QWidget, changes: Mapping[str, str]) -> None:
    """Give the window's actions their current shortcuts."""
    actions = {action.objectName(): action for action in window.actions()}
    for command in commands():
        if command.name in actions:
            actions[command.name].setShortcuts(keys_of(command, changes))


def shown(keys: list[QKeySequence]) -> str:
    """Return shortcuts as text for the user, in this system's spelling."""
    return " / ".join(each.toString(QKeySequence.SequenceFormat.NativeText) for each in keys)


def with_keys(changes: Mapping[str, str], name: str, keys: str) -> dict[str, str]:
    """Return the changes with one more; going back to the default removes the change.

    Args:
        keys: The new shortcut; "" removes the command's shortcut.
    """
    usual = next(command.keys for command in commands() if command.name == name)
    rest = {other: value for other, value in changes.items() if other != name}
    return rest if (keys,) == usual else {**rest, name: keys}


def refusal(name: str, keys: str, changes: Mapping[str, str]) -> str:
    """Return why a command cannot have this shortcut, as a sentence; "" if it can."""
    wanted = QKeySequence(keys, _FORMAT)
    native = wanted.toString(QKeySequence.SequenceFormat.NativeText)
    usual = next(command.keys for command in commands() if command.name == name)
    if _is_for_writing(wanted) and keys not in usual:
        return _tr("keys", "{native} is needed for writing.").format(native=native)
    if not _is_safe(wanted):
        return _tr("keys", "{native} is needed for writing; add Ctrl or Alt to it.").format(
            native=native
        )
    for command in commands():
        if command.name != name and wanted in keys_of(command, changes):
            said = _tr("keys", "{keys} is taken by “{command}”. Change that first.")
            return said.format(keys=native, command=command.text)
    return ""


def _is_for_writing(keys: QKeySequence) -> bool:
    sends = keys.toString(_FORMAT) in ("Ctrl+Return", "Ctrl+Enter")
    return sends or any(keys in QKeySequence.keyBindings(which) for which in _OF_TEXT)


def _is_safe(keys: QKeySequence) -> bool:
    """Return whether nobody needs these keys to write or to move in a text."""
    pressed: QKeyCombination = keys[0]  # type: ignore[index] # PySide6's stubs leave it out
    key = pressed.key()
    alone = Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35 or key == Qt.Key.Key_Escape
    return alone or bool(pressed.keyboardModifiers() & _MODIFIERS)
