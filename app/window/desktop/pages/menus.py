"""The menu bar: every command under its group; on macOS where that system has it."""

from __future__ import annotations

import sys

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow

from app.settings.values.fields import Settings
from app.window.pages.actions import commands

_ROLES = {
    "quit": QAction.MenuRole.QuitRole,
    "show_settings": QAction.MenuRole.PreferencesRole,
}


def fill_menu_bar(window: QMainWindow) -> None:
    """Fill the menu bar, once the window has its actions."""
    actions = {action.objectName(): action for action in window.actions()}
    menus = {}
    for command in commands():
        if command.group not in menus:
            menus[command.group] = window.menuBar().addMenu(command.group)
            menus[command.group].setObjectName(f"menu-{len(menus)}")
        actions[command.name].setMenuRole(_ROLES.get(command.name, QAction.MenuRole.NoRole))
        menus[command.group].addAction(actions[command.name])


def show_menu_bar(window: QMainWindow, settings: Settings) -> None:
    """Show or hide it; on macOS it is no part of the window, and always there."""
    window.menuBar().setVisible(settings.menu_bar or sys.platform == "darwin")
