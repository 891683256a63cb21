"""Every command of the window with its keys: menus, shortcuts and their list follow from here."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QKeySequence


@dataclass(frozen=True)
class Command:
    """name: by which the window knows what it does. keys: in Qt's spelling."""

    name: str
    text: str
    keys: tuple[str, ...]
    group: str


_tr = QCoreApplication.translate


def commands() -> tuple[Command, ...]:
    """All of them, in the order in which they are listed."""
    chats = _tr("actions", "Chats")
    answers = _tr("actions", "Answers")
    window = _tr("actions", "Window")
    return (
        Command("new_chat", _tr("actions", "New chat"), ("Ctrl+N",), chats),
        Command("focus_search", _tr("actions", "Search chats"), ("Ctrl+K",), chats),
        Command("rename_chat", _tr("actions", "Rename this chat"), ("F2",), chats),
        Command("delete_chat", _tr("actions", "Delete this chat"), ("Ctrl+D",), chats),
        Command("undo_delete", _tr("actions", "Undo deleting"), ("Ctrl+Z",), chats),
        Command("chat_above", _tr("actions", "Chat above"), ("Ctrl+PgUp",), chats),
        Command("chat_below", _tr("actions", "Chat below"), ("Ctrl+PgDown",), chats),
        Command("escape", _tr("actions", "Stop the answer"), ("Esc",), answers),
        Command("regenerate", _tr("actions", "Answer again"), ("Ctrl+R",), answers),
        Command("copy_last", _tr("actions", "Copy last answer"), ("Ctrl+Shift+C",), answers),
        Command("scroll_up", _tr("actions", "Scroll up"), ("Alt+Up",), answers),
        Command("scroll_down", _tr("actions", "Scroll down"), ("Alt+Down",), answers),
        Command("go_to_end", _tr("actions", "Jump to newest"), ("Alt+End",), answers),
        Command("focus_composer", _tr("actions", "Write a message"), ("Ctrl+L",), window),
        Command("toggle_sidebar", _tr("actions", "Sidebar"), ("Ctrl+B",), window),
        Command("show_models", _tr("actions", "Models"), ("Ctrl+M",), window),
        Command("show_downloads", _tr("actions", "Downloads"), ("Ctrl+J",), window),
        Command("show_connections", _tr("actions", "Connections"), ("Ctrl+Shift+J",), window),
        Command("toggle_offline", _tr("actions", "Offline or online"), ("Ctrl+Shift+O",), window),
        Command("show_settings", _tr("actions", "Settings"), ("Ctrl+,",), window),
        Command("show_shortcuts", _tr("actions", "Shortcuts"), ("F1", "Ctrl+/"), window),
        Command("close", _tr("actions", "Quit"), ("Ctrl+Q",), window),
    )


def shown_keys(keys: str) -> str:
    """Keys as this system writes them."""
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
