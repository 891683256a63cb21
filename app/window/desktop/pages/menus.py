"""The menu bar with every command under its group; on macOS it is the system's menu bar."""

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
    """Fill the menu bar; the window must already have its actions."""
    actions = {action.objectName(): action for action in window.actions()}
    menus = {}
    for command in commands():
        if command.group not in menus:
            menus[command.group] = window.menuBar().addMenu(command.group)
            menus[command.group].setObjectName(f"menu-{len(menus)}")
        actions[command.name].setMenuRole(_ROLES.get(command.name, QAction.MenuRole.NoRole))
        menus[command.group].addAction(actions[command.name])


def show_menu_bar(window: QMainWindow, settings: Settings) -> None:
    """Show or hide the menu bar; on macOS it is always visible, as it is not part of the window."""
    window.menuBar().setVisible(settings.menu_bar or sys.platform == "darwin")
