"""What of the window the command palette finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.core.chats.places import ALL
from app.core.settings.fields import fields
from app.ui.actions import commands
from app.ui.desktop.keys import keys_of, shown
from app.ui.desktop.palette_items import Item, chats_in_steps
from app.ui.look.language import translated
from app.ui.models.names import name_of

if TYPE_CHECKING:
    from app.core.chats.chat import Chat
    from app.ui.window.main_window import MainWindow

_STEP, _MOST = 200, 5_000
"""Chats that are read in one turn of the event loop, and in all: older ones are searched for."""

_LEFT_OUT = {"show_palette", "escape"}
"""Commands that make no sense from within the palette."""

_tr = QCoreApplication.translate


def items_of(window: MainWindow) -> list[Item]:
    """Commands, settings and models: all that is known at once."""
    return [*_commands(window), *_settings(window), *_models(window)]


def more_items_of(window: MainWindow) -> Iterator[list[Item]]:
    """The chats, the last used first."""
    said = _tr("palette", "Chat")

    def item(chat: Chat) -> Item:
        return Item("chat", chat.title, said, lambda: window.choose_chat(chat.id))

    def page(offset: int, limit: int) -> list[Chat]:
        return window.services.chats.page(ALL, offset, limit)

    return chats_in_steps(page, item, _STEP, _MOST)


def _commands(window: MainWindow) -> Iterator[Item]:
    actions = {action.objectName(): action for action in window.actions()}
    changes = window.services.settings.current.shortcuts
    for command in commands():
        action = actions[command.name]
        if command.name not in _LEFT_OUT and action.isEnabled():
            keys = shown(keys_of(command, changes))
            yield Item("command", command.text, keys, action.trigger, command.group)


def _settings(window: MainWindow) -> Iterator[Item]:
    said = _tr("palette", "Setting")
    for name, field in fields().items():
        if field.in_form:

            def show(name: str = name) -> None:
                window.show_settings(name)

            yield Item("setting", translated(field.title), said, show, translated(field.section))


def _models(window: MainWindow) -> Iterator[Item]:
    said = _tr("palette", "Model")
    for entry in window.chooser.entries():
        if not entry.drafts:

            def use(model_id: str = entry.id) -> None:
                window.chooser.use(model_id)

            yield Item("model", name_of(entry), said, use)
