"""The menus of the list of chats: of a chat, of several, of a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMenu, QWidget

from app.core.chats.chat import Chat
from app.core.chats.places import Folder
from app.ui.sidebar.rows import Scope

Do = Callable[[str], object]
"""Called with the name of what is to be done."""

Move = Callable[[str | None], object]
"""Called with the id of a folder, "" for a new one, None for no folder."""

_tr = QCoreApplication.translate


def chats_menu(
    parent: QWidget,
    chats: Sequence[Chat],
    scope: Scope,
    folders: Sequence[Folder],
    do: Do,
    move: Move,
) -> QMenu:
    """For the chats that are selected, or the one that was pointed at."""
    menu = new_menu(parent, "rowMenu")
    one = chats[0] if len(chats) == 1 else None
    if scope == "trash":
        _add(menu, "restore", _tr("sidebar", "Put back"), do)
        menu.addSeparator()
        _add(menu, "purge", _tr("sidebar", "Delete for good…"), do)
        return menu
    if one:
        _add(menu, "rename", _tr("sidebar", "Rename"), do)
    if scope == "archive":
        _add(menu, "unarchive", _tr("sidebar", "Take out of the archive"), do)
    else:
        if all(chat.pinned for chat in chats):
            _add(menu, "unpin", _tr("sidebar", "Unpin"), do)
        else:
            _add(menu, "pin", _tr("sidebar", "Pin"), do)
        inner = menu.addMenu(_tr("sidebar", "Move to"))
        fill_with_folders(inner, folders, {chat.folder_id for chat in chats}, move)
        _add(menu, "archive", _tr("sidebar", "Archive"), do)
    _add(menu, "export", _tr("sidebar", "Export…"), do)
    menu.addSeparator()
    _add(menu, "delete", _tr("sidebar", "Delete"), do)
    return menu


def folder_menu(parent: QWidget, do: Do) -> QMenu:
    """For a folder."""
    menu = new_menu(parent, "rowMenu")
    _add(menu, "rename", _tr("sidebar", "Rename"), do)
    _add(menu, "export", _tr("sidebar", "Export its chats…"), do)
    menu.addSeparator()
    _add(menu, "remove_folder", _tr("sidebar", "Remove the folder, keep its chats"), do)
    return menu


def fill_with_folders(
    menu: QMenu, folders: Sequence[Folder], current: set[str | None], move: Move
) -> None:
    """Let the user pick a folder; current: where the chats are now."""
    menu.setObjectName("moveMenu")
    for folder in folders:
        action = menu.addAction(folder.name.replace("&", "&&"))
        action.setEnabled(current != {folder.id})
        action.triggered.connect(lambda _=False, to=folder.id: move(to))
    if current != {None}:
        if folders:
            menu.addSeparator()
        menu.addAction(_tr("sidebar", "No folder")).triggered.connect(lambda: move(None))
    if menu.actions():
        menu.addSeparator()
    menu.addAction(_tr("sidebar", "New folder")).triggered.connect(lambda: move(""))


def new_menu(parent: QWidget, name: str) -> QMenu:
    """A menu that goes when it is closed."""
    menu = QMenu(parent)
    menu.setObjectName(name)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


def _add(menu: QMenu, deed: str, text: str, do: Do) -> None:
    action = menu.addAction(text)
    action.setObjectName(deed)
    action.triggered.connect(lambda: do(deed))
