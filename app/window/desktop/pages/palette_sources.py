"""Collects the items of the command palette."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QCoreApplication

from app.base.language import translated
from app.chats.history.values.places import ALL
from app.models.discover.pages.words import fits_word
from app.models.library.pages.names import name_of
from app.settings.values.fields import Settings, fields
from app.window.desktop.pages.keys import keys_of, keys_text
from app.window.desktop.pages.palette_items import Item, chats_in_steps
from app.window.pages.actions import commands

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from app.chats.history.presenters.chats import Chats
    from app.chats.history.values.chat import Chat
    from app.kit.navigation import Navigation
    from app.models.library.pages.chooser import ModelChooser

_STEP, _MOST = 200, 5_000
"""How many chats are read per turn of the event loop, and in all; older ones need the search."""

_LEFT_OUT = {"show_palette", "escape"}
"""Commands that make no sense inside the palette."""

_DRAWINGS: Final[Mapping[str, str]] = {
    "new_chat": "plus",
    "scratch_chat": "scratch",
    "chat_settings": "sliders",
    "chat_documents": "documents",
    "focus_search": "search",
    "find": "search",
    "find_next": "down",
    "find_previous": "above",
    "pin_chat": "pin",
    "archive_chat": "archive",
    "new_folder": "folder-plus",
    "show_archive": "archive",
    "show_trash": "trash",
    "rename_chat": "pencil",
    "duplicate_chat": "copy",
    "delete_chat": "trash",
    "undo_delete": "restore",
    "export_chat": "export",
    "import_chats": "download",
    "chat_above": "above",
    "chat_below": "down",
    "regenerate": "again",
    "copy_last": "copy",
    "edit_message": "pencil",
    "quote": "quote",
    "answer_facts": "info",
    "branch_before": "left",
    "branch_after": "right",
    "show_branches": "branch",
    "focus_messages": "chat",
    "message_above": "above",
    "message_below": "down",
    "scroll_up": "up",
    "scroll_down": "lower",
    "go_to_end": "newest",
    "focus_composer": "pencil",
    "attach_files": "attach",
    "insert_prompt": "paste",
    "toggle_sidebar": "panel",
    "toggle_offline": "offline",
    "quick_ask": "flame",
    "zoom_in": "plus",
    "zoom_out": "minus",
    "zoom_reset": "fit",
    "show_settings": "gear",
    "close": "close",
    "quit": "stop",
    "show_shortcuts": "keyboard",
    "show_assistants": "assistant",
    "show_prompts": "paste",
    "show_documents": "documents",
    "show_models": "box",
    "show_downloads": "download",
    "show_engines": "cpu",
    "show_activity": "clock",
    "show_api": "elsewhere",
    "show_servers": "server",
    "show_connections": "ledger",
    "show_help": "help",
}
"""The icons of the commands."""

_tr = QCoreApplication.translate


def items_of(
    actions: Sequence[QAction], settings: Settings, chooser: ModelChooser, navigation: Navigation
) -> list[Item]:
    """Return the commands, settings and models, which are all known at once.

    Args:
        actions: The window's actions.
    """
    return [*_commands(actions, settings), *_settings(navigation), *_models(chooser)]


def chat_items(chats: Chats, navigation: Navigation) -> Iterator[list[Item]]:
    """Yield the chats page by page, the most recently used first."""
    kind = _tr("palette", "Chat")

    def item(chat: Chat) -> Item:
        return Item("chat", chat.title, kind, lambda: navigation.open_chat(chat.id))

    def page(offset: int, limit: int) -> Sequence[Chat]:
        return chats.page(ALL, offset, limit)

    return chats_in_steps(page, item, _STEP, _MOST)


def _commands(actions: Sequence[QAction], settings: Settings) -> Iterator[Item]:
    named = {action.objectName(): action for action in actions}
    for command in commands():
        action = named[command.name]
        if command.name not in _LEFT_OUT and action.isEnabled():
            keys = keys_text(keys_of(command, settings.shortcuts))
            drawing = _DRAWINGS.get(command.name, "")
            yield Item("command", command.text, keys, action.trigger, command.group, drawing)


def _settings(navigation: Navigation) -> Iterator[Item]:
    kind = _tr("palette", "Setting")
    for name, field in fields().items():
        if field.in_form:

            def show(name: str = name) -> None:
                navigation.show_settings(name)

            yield Item("setting", translated(field.title), kind, show, translated(field.section))


def _models(chooser: ModelChooser) -> Iterator[Item]:
    kind = _tr("palette", "Model")
    for entry in chooser.entries():
        if not entry.drafts:

            def use(model_id: str = entry.id) -> None:
                chooser.use(model_id)

            verdict = fits_word(entry.fits) if entry.fits else ""
            detail = " · ".join(filter(None, (verdict, kind)))
            yield Item("model", name_of(entry), detail, use)
