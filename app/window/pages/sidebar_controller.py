"""The connection of the sidebar's lists with the presenters of chats, and its menus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.chats.history.values.chat import Chat
from app.chats.history.values.places import ARCHIVE, PINNED, TRASH, Folder
from app.chats.sidebar.pages.rows import ChatRow, FolderRow, Heading, Row, Scope
from app.kit.widgets.menu import Menu

if TYPE_CHECKING:
    from app.chats.find.pages.chat_find import ChatFind
    from app.chats.history.presenters.branches import Branches
    from app.chats.history.presenters.chats import Chats
    from app.chats.search.presenters import ChatSearch
    from app.chats.search.values.hits import Hit
    from app.chats.sidebar.pages.chat_actions import ChatActions
    from app.kit.navigation import Navigation
    from app.window.pages.sidebar import Sidebar


Do = Callable[[str], object]
"""A function that runs an action by its name."""

Move = Callable[[str | None], object]
"""A function that moves chats to the folder with this id; "" is a new folder, None no folder."""

_tr = QCoreApplication.translate


def chats_menu(
    parent: QWidget,
    chats: Sequence[Chat],
    scope: Scope,
    folders: Sequence[Folder],
    do: Do,
    move: Move,
) -> QMenu:
    """Make the menu for the selected chats, or for the chat under the pointer."""
    menu = new_menu(parent, "rowMenu")
    single_chat = chats[0] if len(chats) == 1 else None
    if scope == "trash":
        _add(menu, "restore", _tr("sidebar", "Restore"), do)
        menu.addSeparator()
        _add(menu, "purge", _tr("sidebar", "Delete for good…"), do)
        return menu
    if single_chat:
        _add(menu, "rename", _tr("sidebar", "Rename"), do)
    if scope == "archive":
        _add(menu, "unarchive", _tr("sidebar", "Unarchive"), do)
    else:
        if all(chat.pinned for chat in chats):
            _add(menu, "unpin", _tr("sidebar", "Unpin"), do)
        else:
            _add(menu, "pin", _tr("sidebar", "Pin"), do)
        inner = menu.addMenu(_tr("sidebar", "Move to"))
        fill_with_folders(inner, folders, {chat.folder_id for chat in chats}, move)
        _add(menu, "archive", _tr("sidebar", "Archive"), do)
    if single_chat:
        _add(menu, "duplicate", _tr("sidebar", "Duplicate"), do)
    _add(menu, "export", _tr("sidebar", "Export…"), do)
    menu.addSeparator()
    _add(menu, "delete", _tr("sidebar", "Delete"), do)
    return menu


def folder_menu(parent: QWidget, do: Do) -> QMenu:
    """Make the menu for a folder."""
    menu = new_menu(parent, "rowMenu")
    _add(menu, "rename", _tr("sidebar", "Rename"), do)
    _add(menu, "export", _tr("sidebar", "Export its chats…"), do)
    menu.addSeparator()
    _add(menu, "remove_folder", _tr("sidebar", "Remove the folder, keep its chats"), do)
    return menu


def fill_with_folders(
    menu: QMenu, folders: Sequence[Folder], current: set[str | None], move: Move
) -> None:
    """Fill a menu with the folders.

    Args:
        menu: The menu.
        folders: The folders.
        current: The ids of the folders that contain the chats now; None is no folder.
        move: Called with the user's choice.
    """
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
    """Return a menu that is deleted when it closes."""
    menu = Menu(parent)
    menu.setObjectName(name)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu


def _add(menu: QMenu, action: str, text: str, do: Do) -> None:
    entry = menu.addAction(text)
    entry.setObjectName(action)
    entry.triggered.connect(lambda: do(action))


class SidebarController(QObject):
    """The connection of the sidebar's lists with the presenters.

    Signals:
        found(hit, words): The user wants to open a search hit, at the words that were found.
    """

    found = Signal(object, str)

    def __init__(
        self, sidebar: Sidebar, chats: Chats, search: ChatSearch, chat_actions: ChatActions
    ) -> None:
        super().__init__(sidebar)
        self._sidebar = sidebar
        self._chats = chats
        self._search = search
        self._chat_actions = chat_actions
        self._rename: str | None = None
        rows, places = sidebar.chats, sidebar.places
        sidebar.model.renamed.connect(self._renamed)
        sidebar.searched.connect(self._searched)
        sidebar.hit.connect(lambda hit: self.found.emit(hit, sidebar.search.text()))
        search.found.connect(self._found)
        rows.wanted.connect(chat_actions.do)
        rows.menu.connect(self._show_menu)
        rows.dropped.connect(self._drop)
        sidebar.bulk_wanted.connect(lambda action: chat_actions.do(action, rows.selected_ids()))
        sidebar.bulk_fill.connect(self._fill_move)
        places.go.connect(sidebar.go_to)
        places.asked.connect(lambda: places.show_counts(chats.count(ARCHIVE), chats.count(TRASH)))
        places.new_folder.connect(self.make_folder)
        places.empty_trash.connect(chat_actions.empty_trash)

    def name_new_folder(self) -> None:
        """Let the user name a new folder; call it after the list was read again."""
        if self._rename:
            index = self._sidebar.model.index_of_folder(self._rename)
            if index.isValid():
                self._rename = None
                self._sidebar.chats.rename(index)

    def _renamed(self, row: Row, name: str) -> None:
        if isinstance(row, FolderRow):
            self._chats.rename_folder(row.folder.id, name)
        elif isinstance(row, ChatRow):
            self._chats.rename(row.chat.id, name)

    def _searched(self, words: str) -> None:
        if words.strip():
            self._search.search(words)
        else:
            self._sidebar.show_list()

    def _found(self, words: str, hits: Sequence[Hit]) -> None:
        if words == self._sidebar.search.text():
            self._sidebar.show_hits(words, hits)

    def _show_menu(self, row: Row, place: QPoint) -> None:
        rows = self._sidebar.chats
        if isinstance(row, FolderRow):
            do = partial(self._do_with_folder, row)
            folder_menu(rows, do).popup(place)
        elif isinstance(row, ChatRow):
            ids = rows.selected_ids() if rows.is_bulk else []
            ids = ids if row.chat.id in ids else [row.chat.id]
            menu = chats_menu(
                rows,
                self._known(ids),
                rows.scope,
                self._chats.folders(),
                lambda action: self._do(action, ids),
                lambda folder_id: self._move(folder_id, ids),
            )
            menu.popup(place)

    def _do(self, action: str, ids: Sequence[str]) -> None:
        if action == "rename":
            self._sidebar.chats.rename(self._sidebar.model.index_of(ids[0]))
        else:
            self._chat_actions.do(action, ids)

    def _do_with_folder(self, row: FolderRow, action: str) -> None:
        if action == "rename":
            self._sidebar.chats.rename(self._sidebar.model.index_of_folder(row.folder.id))
        elif action == "export":
            self._chat_actions.export_folder(row.folder.id)
        else:
            self._chat_actions.remove_folder(row.folder.id)

    def _fill_move(self, menu: QMenu) -> None:
        ids = self._sidebar.chats.selected_ids()
        menu.clear()
        current = {chat.folder_id for chat in self._known(ids)}
        fill_with_folders(menu, self._chats.folders(), current, lambda to: self._move(to, ids))

    def _move(self, folder_id: str | None, ids: Sequence[str]) -> None:
        if folder_id == "":
            self.make_folder(ids)
        else:
            self._chat_actions.move(folder_id, ids)

    def make_folder(self, ids: Sequence[str] = ()) -> None:
        """Make a folder with these chats; the user names it in the list."""
        self._rename = self._chats.make_folder(self.tr("New folder"), *ids)

    def _drop(self, row: Row, ids: Sequence[str]) -> None:
        if isinstance(row, Heading):
            pins = row.group == "pinned"
            target = None
        else:
            pins = isinstance(row, ChatRow) and row.place == PINNED
            target = row.folder.id if isinstance(row, FolderRow) else row.place.folder_id
        if pins:
            self._chats.set_pinned(True, *ids)
        else:
            self._chat_actions.move(target, ids)

    def _known(self, ids: Sequence[str]) -> list[Chat]:
        found = (self._chats.chat(chat_id) for chat_id in ids)
        return [chat for chat in found if chat]


class HitOpening(QObject):
    """A controller that opens search hits.

    A message of another branch is shown once the chat has switched to it.
    """

    def __init__(
        self,
        order: SidebarController,
        branches: Branches,
        finding: ChatFind,
        navigation: Navigation,
    ) -> None:
        super().__init__(order)
        self._branches = branches
        self._finding = finding
        self._navigation = navigation
        self._waiting: tuple[str, str] | None = None
        order.found.connect(self._open)
        branches.switched.connect(self._switched)

    def _open(self, hit: Hit, words: str) -> None:
        self._waiting = None
        self._navigation.open_chat(hit.chat.id, to_write=False)
        if hit.message_id and not self._finding.mark(hit.message_id, words):
            self._waiting = hit.message_id, words
            self._branches.go(hit.chat.id, hit.message_id)

    def _switched(self, _chat_id: str, message_id: str) -> None:
        if self._waiting and self._waiting[0] == message_id:
            _, words = self._waiting
            self._waiting = None
            self._finding.mark(message_id, words)
