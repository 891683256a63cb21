"""The shortcuts of every command: the defaults and the user's changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QCoreApplication, QEvent, QKeyCombination, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.window.pages.actions import WindowCommand, commands

_FORMAT = QKeySequence.SequenceFormat.PortableText
_MODIFIERS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)
_Standard = QKeySequence.StandardKey
_TEXT_KEYS = (
    _Standard.Copy,
    _Standard.Cut,
    _Standard.Paste,
    _Standard.SelectAll,
    _Standard.Undo,
    _Standard.Redo,
    _Standard.MoveToNextWord,
    _Standard.MoveToPreviousWord,
    _Standard.MoveToStartOfDocument,
    _Standard.MoveToEndOfDocument,
    _Standard.SelectNextWord,
    _Standard.SelectPreviousWord,
    _Standard.SelectStartOfDocument,
    _Standard.SelectEndOfDocument,
    _Standard.DeleteStartOfWord,
    _Standard.DeleteEndOfWord,
    _Standard.InsertParagraphSeparator,
    _Standard.InsertLineSeparator,
)
"""Keys that a focused text field uses itself, including Enter, which sends a message."""

_tr = QCoreApplication.translate


class _DestructiveAction(QAction):
    """An action that its keys do not trigger while the user writes, but menus do."""

    def event(self, event: QEvent) -> bool:
        """Ignore the keys while a text field has the focus."""
        if event.type() is QEvent.Type.Shortcut and _is_writing():
            return True
        return super().event(event)


def keys_of(command: WindowCommand, changes: Mapping[str, str]) -> list[QKeySequence]:
    """Return a command's shortcuts; none if the user removed them."""
    if command.name in changes:
        read = QKeySequence.listFromString(changes[command.name], _FORMAT)
        return [keys for keys in read if not keys.isEmpty()]
    return [QKeySequence(keys) for keys in command.keys]


def add_actions(window: QWidget, handlers: Mapping[str, Callable[[], object]]) -> None:
    """Add an action to the window for each command in `handlers`; call `give_keys` afterwards.

    Args:
        handlers: The function of each command, by the command's name, which also becomes the
            action's name.
    """
    for command in commands():
        if command.name in handlers:
            kind = _DestructiveAction if command.destructive else QAction
            action = kind(command.text, window)
            action.setObjectName(command.name)
            action.triggered.connect(lambda _=False, do=handlers[command.name]: do())
            window.addAction(action)


def give_keys(window: QWidget, changes: Mapping[str, str]) -> None:
    """Give the window's actions their current shortcuts."""
    actions = {action.objectName(): action for action in window.actions()}
    for command in commands():
        if command.name in actions:
            actions[command.name].setShortcuts(keys_of(command, changes))


def keys_text(keys: list[QKeySequence]) -> str:
    """Return shortcuts as text for the user, in this system's spelling."""
    return " / ".join(each.toString(QKeySequence.SequenceFormat.NativeText) for each in keys)


def with_keys(changes: Mapping[str, str], name: str, keys: str) -> dict[str, str]:
    """Return the changes with one more; going back to the default removes the change.

    Args:
        keys: The new shortcut; "" removes the command's shortcut.
    """
    default_keys = next(command.keys for command in commands() if command.name == name)
    rest = {other: value for other, value in changes.items() if other != name}
    wanted = (keys,) if keys else ()
    return rest if wanted == default_keys else {**rest, name: keys}


def refusal(name: str, keys: str, changes: Mapping[str, str]) -> str:
    """Return why a command cannot have this shortcut, as a sentence; "" if it can."""
    wanted = QKeySequence(keys, _FORMAT)
    native = wanted.toString(QKeySequence.SequenceFormat.NativeText)
    default_keys = next(command.keys for command in commands() if command.name == name)
    if _is_for_writing(wanted) and keys not in default_keys:
        return _tr("keys", "{native} is needed for writing.").format(native=native)
    if not _is_safe(wanted):
        return _tr("keys", "{native} is needed for writing; add Ctrl or Alt to it.").format(
            native=native
        )
    for command in commands():
        if command.name != name and wanted in keys_of(command, changes):
            sentence = _tr("keys", "{keys} is taken by “{command}”. Change that first.")
            return sentence.format(keys=native, command=command.text)
    return ""


def _is_writing() -> bool:
    """Return whether a field in which the user can write has the focus."""
    focused = QApplication.focusWidget()
    if isinstance(focused, QLineEdit | QPlainTextEdit | QTextEdit):
        return not focused.isReadOnly()
    return isinstance(focused, QAbstractSpinBox)


def _is_for_writing(keys: QKeySequence) -> bool:
    sends = keys.toString(_FORMAT) in ("Ctrl+Return", "Ctrl+Enter")
    return sends or any(
        keys in QKeySequence.keyBindings(standard_key) for standard_key in _TEXT_KEYS
    )


def _is_safe(keys: QKeySequence) -> bool:
    """Return whether nobody needs these keys to write or to move in a text."""
    pressed: QKeyCombination = keys[0]  # type: ignore[index] # PySide6's stubs leave it out
    key = pressed.key()
    is_special_key = Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35 or key == Qt.Key.Key_Escape
    return is_special_key or bool(pressed.keyboardModifiers() & _MODIFIERS)
