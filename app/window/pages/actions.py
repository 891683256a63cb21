"""The window's commands and their shortcuts; menus and the list of shortcuts are made from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.window.pages.pages import pages


@dataclass(frozen=True)
class WindowCommand:
    """A command of the window.

    Attributes:
        name: The key under which `MainWindow` finds the function of the command.
        keys: The default shortcuts, in Qt's spelling; none that a desktop or an input method uses.
        destructive: Whether it takes something away, so that no key does it while the user writes.
    """

    name: str
    text: str
    keys: tuple[str, ...]
    group: str
    destructive: bool = False


_tr = QCoreApplication.translate


def commands() -> tuple[WindowCommand, ...]:
    """Return the commands in the order in which they are shown."""
    chats = _tr("actions", "Chats")
    answers = _tr("actions", "Answers")
    window = _tr("actions", "Window")
    help_ = _tr("actions", "Help")
    return (
        WindowCommand("new_chat", _tr("actions", "New chat"), ("Ctrl+N",), chats),
        WindowCommand("scratch_chat", _tr("actions", "Scratch chat"), ("Ctrl+Shift+N",), chats),
        WindowCommand("chat_settings", _tr("actions", "Chat settings"), ("Ctrl+T",), chats),
        WindowCommand(
            "chat_documents", _tr("actions", "Documents of this chat"), ("Ctrl+Shift+X",), chats
        ),
        WindowCommand("focus_search", _tr("actions", "Search chats"), ("Ctrl+K",), chats),
        WindowCommand("find", _tr("actions", "Find in this chat"), ("Ctrl+F",), chats),
        WindowCommand("find_next", _tr("actions", "Next match"), ("F3",), chats),
        WindowCommand("find_previous", _tr("actions", "Previous match"), ("Shift+F3",), chats),
        WindowCommand(
            "pin_chat", _tr("actions", "Pin or unpin this chat"), ("Ctrl+Shift+I",), chats
        ),
        WindowCommand(
            "archive_chat", _tr("actions", "Archive this chat"), ("Ctrl+Shift+D",), chats
        ),
        WindowCommand("new_folder", _tr("actions", "New folder"), ("Ctrl+Shift+F",), chats),
        WindowCommand("show_archive", _tr("actions", "Archive"), ("Ctrl+Shift+H",), chats),
        WindowCommand("show_trash", _tr("actions", "Trash"), ("Ctrl+Shift+T",), chats),
        WindowCommand("rename_chat", _tr("actions", "Rename this chat"), ("F2",), chats),
        WindowCommand(
            "duplicate_chat", _tr("actions", "Duplicate this chat"), ("Ctrl+Shift+M",), chats
        ),
        # In the list of chats, Delete does it; a key for everywhere would be pressed by mistake.
        WindowCommand(
            "delete_chat", _tr("actions", "Delete this chat"), (), chats, destructive=True
        ),
        WindowCommand("undo_delete", _tr("actions", "Undo deleting"), ("Ctrl+Z",), chats),
        WindowCommand("export_chat", _tr("actions", "Export this chat"), ("Ctrl+Shift+S",), chats),
        WindowCommand("import_chats", _tr("actions", "Import chats"), ("F7",), chats),
        WindowCommand("chat_above", _tr("actions", "Chat above"), ("Ctrl+PgUp",), chats),
        WindowCommand("chat_below", _tr("actions", "Chat below"), ("Ctrl+PgDown",), chats),
        WindowCommand("escape", _tr("actions", "Go back or stop the answer"), ("Esc",), answers),
        WindowCommand("regenerate", _tr("actions", "Answer again"), ("Ctrl+R",), answers),
        WindowCommand("copy_last", _tr("actions", "Copy last answer"), ("Ctrl+Shift+C",), answers),
        WindowCommand(
            "edit_message", _tr("actions", "Edit the last question"), ("Ctrl+E",), answers
        ),
        WindowCommand("quote", _tr("actions", "Quote the selection"), ("Ctrl+Shift+9",), answers),
        WindowCommand("answer_facts", _tr("actions", "Details of an answer"), ("Ctrl+I",), answers),
        WindowCommand("branch_before", _tr("actions", "Previous branch"), ("Alt+Left",), answers),
        WindowCommand("branch_after", _tr("actions", "Next branch"), ("Alt+Right",), answers),
        WindowCommand("show_branches", _tr("actions", "All branches"), ("Ctrl+Shift+B",), answers),
        WindowCommand(
            "focus_messages", _tr("actions", "Messages or message box"), ("F6",), answers
        ),
        WindowCommand("message_above", _tr("actions", "Message above"), ("Alt+PgUp",), answers),
        WindowCommand("message_below", _tr("actions", "Message below"), ("Alt+PgDown",), answers),
        WindowCommand("scroll_up", _tr("actions", "Scroll up"), ("Alt+Up",), answers),
        WindowCommand("scroll_down", _tr("actions", "Scroll down"), ("Alt+Down",), answers),
        WindowCommand("go_to_end", _tr("actions", "Jump to newest"), ("Alt+End",), answers),
        WindowCommand("focus_composer", _tr("actions", "Write a message"), ("Ctrl+L",), window),
        WindowCommand("attach_files", _tr("actions", "Attach files"), ("Ctrl+O",), window),
        WindowCommand("insert_prompt", _tr("actions", "Insert a prompt"), ("Ctrl+P",), window),
        WindowCommand("toggle_sidebar", _tr("actions", "Sidebar"), ("Ctrl+B",), window),
        *_of_pages("window", window),
        WindowCommand(
            "toggle_offline", _tr("actions", "Offline or online"), ("Ctrl+Shift+O",), window
        ),
        WindowCommand("show_palette", _tr("actions", "Command palette"), ("Ctrl+Shift+P",), window),
        WindowCommand("quick_ask", _tr("actions", "Quick ask"), ("Ctrl+Shift+K",), window),
        WindowCommand("zoom_in", _tr("actions", "Larger"), ("Ctrl++", "Ctrl+="), window),
        WindowCommand("zoom_out", _tr("actions", "Smaller"), ("Ctrl+-",), window),
        WindowCommand("zoom_reset", _tr("actions", "Normal size"), ("Ctrl+0",), window),
        WindowCommand("show_settings", _tr("actions", "Settings"), ("Ctrl+,",), window),
        WindowCommand("close", _tr("actions", "Close the window"), ("Ctrl+W",), window),
        WindowCommand("quit", _tr("actions", "Quit"), ("Ctrl+Q",), window),
        *_of_pages("help", help_),
        WindowCommand("show_shortcuts", _tr("actions", "Shortcuts"), ("F1", "Ctrl+/"), help_),
    )


def _of_pages(group: str, group_title: str) -> Iterator[WindowCommand]:
    for page in pages():
        if page.group == group:
            for command in page.commands:
                keys = (command.keys,) if command.keys else ()
                yield WindowCommand(command.name, command.text, keys, group_title)
