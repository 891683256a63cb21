"""What each command of the window does, by the name that it has in `actions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction

from app.core.settings.fields import Settings
from app.ui.actions import commands
from app.ui.chat.page_actions import page_actions
from app.ui.desktop.keys import keys_of
from app.ui.desktop.menus import fill_menu_bar

if TYPE_CHECKING:
    from app.ui.window.main_window import MainWindow


def add_actions(window: MainWindow) -> None:
    """Give the window an action for every command, with the keys that the user wants."""
    does = _does(window)
    for command in commands():
        action = QAction(command.text, window)
        action.setObjectName(command.name)
        action.triggered.connect(lambda _=False, do=does[command.name]: do())
        window.addAction(action)
    window.services.settings.changed.connect(lambda settings: _give_keys(window, settings))
    _give_keys(window, window.services.settings.current)
    fill_menu_bar(window)


def _give_keys(window: MainWindow, settings: Settings) -> None:
    actions = {action.objectName(): action for action in window.actions()}
    for command in commands():
        actions[command.name].setShortcuts(keys_of(command, settings.shortcuts))


def _does(window: MainWindow) -> dict[str, Callable[[], object]]:
    page, sidebar = window.page, window.sidebar
    return {
        "new_chat": window.new_chat,
        "focus_search": window.focus_search,
        "find": page.finding.open,
        "find_next": lambda: page.finding.step(1),
        "find_previous": lambda: page.finding.step(-1),
        "pin_chat": lambda: window.chat_actions.do("toggle_pin", page.chat_id),
        "archive_chat": lambda: window.chat_actions.do("archive", page.chat_id),
        "new_folder": lambda: window.show_chats("chats", window.order.make_folder),
        "show_archive": lambda: window.show_chats("archive"),
        "show_trash": lambda: window.show_chats("trash"),
        "rename_chat": sidebar.rename_current,
        "delete_chat": lambda: window.chat_actions.do("delete", page.chat_id),
        "export_chat": lambda: window.chat_actions.do("export", page.chat_id),
        "import_chats": lambda: window.importer.ask(),  # noqa: PLW0108 - made when needed
        "undo_delete": window.notifier.undo,
        "chat_above": lambda: window.step(-1),
        "chat_below": lambda: window.step(1),
        "escape": window.escape,
        **page_actions(page),
        "toggle_sidebar": lambda: window.set_sidebar(sidebar.isHidden()),
        "show_models": window.go_to_models,
        "show_settings": window.show_settings,
        "show_assistants": window.assistants_controller.show_page,
        "show_prompts": lambda: window.assistants_controller.show_page("prompts"),
        "insert_prompt": window.assistants_controller.prompts.open,
        "chat_settings": window.assistants_controller.toggle_panel,
        "scratch_chat": window.assistants_controller.open_scratch,
        "show_shortcuts": window.show_shortcuts,
        "show_help": lambda: window.go_to(window.help),
        "show_downloads": lambda: window.go_to_models("downloads"),
        "show_engines": window.switching.show_engines,
        "show_servers": window.switching.show_servers,
        "show_connections": lambda: window.go_to(window.connections),
        "toggle_offline": window.online.toggle,
        "show_palette": window.desktop.show_palette,
        "quick_ask": window.desktop.quick_ask,
        "zoom_in": lambda: window.desktop.zoom_by(1),
        "zoom_out": lambda: window.desktop.zoom_by(-1),
        "zoom_reset": lambda: window.desktop.zoom_by(0),
        "close": window.close,
        "quit": window.desktop.quit,
    }
