"""Every command of the window with its keys: menus, shortcuts and their list follow from here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.ui.pages import pages


@dataclass(frozen=True)
class Command:
    """A command of the window.

    name: by which the window knows what it does. keys: in Qt's spelling.
    """

    name: str
    text: str
    keys: tuple[str, ...]
    group: str


_tr = QCoreApplication.translate


def commands() -> tuple[Command, ...]:
    """List the commands in the order in which they are shown."""
    chats = _tr("actions", "Chats")
    answers = _tr("actions", "Answers")
    window = _tr("actions", "Window")
    helps = _tr("actions", "Help")
    return (
        Command("new_chat", _tr("actions", "New chat"), ("Ctrl+N",), chats),
        Command("scratch_chat", _tr("actions", "Scratch chat"), ("Ctrl+Shift+N",), chats),
        Command("chat_settings", _tr("actions", "Chat settings"), ("Ctrl+Shift+E",), chats),
        Command("focus_search", _tr("actions", "Search chats"), ("Ctrl+K",), chats),
        Command("find", _tr("actions", "Find in this chat"), ("Ctrl+F",), chats),
        Command("find_next", _tr("actions", "Next place found"), ("F3",), chats),
        Command("find_previous", _tr("actions", "Previous place found"), ("Shift+F3",), chats),
        Command("pin_chat", _tr("actions", "Pin or unpin this chat"), ("Ctrl+Shift+I",), chats),
        Command("archive_chat", _tr("actions", "Archive this chat"), ("Ctrl+Shift+D",), chats),
        Command("new_folder", _tr("actions", "New folder"), ("Ctrl+Shift+F",), chats),
        Command("show_archive", _tr("actions", "Archive"), ("Ctrl+Shift+H",), chats),
        Command("show_trash", _tr("actions", "Trash"), ("Ctrl+Shift+T",), chats),
        Command("rename_chat", _tr("actions", "Rename this chat"), ("F2",), chats),
        Command("delete_chat", _tr("actions", "Delete this chat"), ("Ctrl+D",), chats),
        Command("undo_delete", _tr("actions", "Undo deleting"), ("Ctrl+Z",), chats),
        Command("export_chat", _tr("actions", "Export this chat"), ("Ctrl+Shift+S",), chats),
        Command("import_chats", _tr("actions", "Import chats"), ("Ctrl+Shift+U",), chats),
        Command("chat_above", _tr("actions", "Chat above"), ("Ctrl+PgUp",), chats),
        Command("chat_below", _tr("actions", "Chat below"), ("Ctrl+PgDown",), chats),
        Command("escape", _tr("actions", "Stop the answer"), ("Esc",), answers),
        Command("regenerate", _tr("actions", "Answer again"), ("Ctrl+R",), answers),
        Command("copy_last", _tr("actions", "Copy last answer"), ("Ctrl+Shift+C",), answers),
        Command("edit_message", _tr("actions", "Edit the last question"), ("Ctrl+E",), answers),
        Command("quote", _tr("actions", "Quote what is selected"), ("Ctrl+Shift+Q",), answers),
        Command("answer_facts", _tr("actions", "How an answer came about"), ("Ctrl+I",), answers),
        Command("branch_before", _tr("actions", "Previous branch"), ("Alt+Left",), answers),
        Command("branch_after", _tr("actions", "Next branch"), ("Alt+Right",), answers),
        Command("show_branches", _tr("actions", "All branches"), ("Ctrl+Shift+B",), answers),
        Command("focus_messages", _tr("actions", "Messages or message box"), ("F6",), answers),
        Command("message_above", _tr("actions", "Message above"), ("Alt+PgUp",), answers),
        Command("message_below", _tr("actions", "Message below"), ("Alt+PgDown",), answers),
        Command("scroll_up", _tr("actions", "Scroll up"), ("Alt+Up",), answers),
        Command("scroll_down", _tr("actions", "Scroll down"), ("Alt+Down",), answers),
        Command("go_to_end", _tr("actions", "Jump to newest"), ("Alt+End",), answers),
        Command("focus_composer", _tr("actions", "Write a message"), ("Ctrl+L",), window),
        Command("insert_prompt", _tr("actions", "Insert a prompt"), ("Ctrl+P",), window),
        Command("toggle_sidebar", _tr("actions", "Sidebar"), ("Ctrl+B",), window),
        *_of_pages("window", window),
        Command("toggle_offline", _tr("actions", "Offline or online"), ("Ctrl+Shift+O",), window),
        Command("show_palette", _tr("actions", "Command palette"), ("Ctrl+Shift+P",), window),
        Command("quick_ask", _tr("actions", "Quick ask"), ("Ctrl+Shift+K",), window),
        Command("zoom_in", _tr("actions", "Larger"), ("Ctrl++", "Ctrl+="), window),
        Command("zoom_out", _tr("actions", "Smaller"), ("Ctrl+-",), window),
        Command("zoom_reset", _tr("actions", "Usual size"), ("Ctrl+0",), window),
        Command("show_settings", _tr("actions", "Settings"), ("Ctrl+,",), window),
        Command("close", _tr("actions", "Close the window"), ("Ctrl+W",), window),
        Command("quit", _tr("actions", "Quit"), ("Ctrl+Q",), window),
        *_of_pages("help", helps),
        Command("show_shortcuts", _tr("actions", "Shortcuts"), ("F1", "Ctrl+/"), helps),
    )


def _of_pages(group: str, called: str) -> Iterator[Command]:
    for page in pages():
        if page.group == group:
            for it in page.commands:
                yield Command(it.name, it.text, (it.keys,), called)
