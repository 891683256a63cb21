"""The Qt model of the list of chats, which reads only the visible chats, one page at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from datetime import datetime

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.chats.history.presenters.chats import Chats
from app.chats.history.values.chat import ChatMark, ListedChat
from app.chats.history.values.places import PINNED, Place
from app.chats.sidebar.pages.rows import (
    ChatRow,
    FolderRow,
    Group,
    Heading,
    Layout,
    Row,
    Scope,
    layout_of,
    place_of,
    sort_time,
)

ROW = Qt.ItemDataRole.UserRole
CHATS_MIME = "application/x-hearth-chats"
_PAGE = 100
_PAGES = 12
"""The maximum number of pages in memory."""
_AT_ONCE = 1000

Index = QModelIndex | QPersistentModelIndex


class ChatModel(QAbstractListModel):
    """The Qt model of the list of chats.

    Attributes:
        folded: The ids of the folders whose chats are not listed, from the next `reload` on.

    Signals:
        renamed(row, name): The user entered another name, which the owner has to store.
    """

    renamed = Signal(object, str)

    def __init__(self, chats: Chats, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats = chats
        self._scope: Scope = "chats"
        self.folded: set[str] = set()
        self._layout = Layout()
        self._pages: OrderedDict[tuple[Place, int], list[ListedChat]] = OrderedDict()

    @property
    def scope(self) -> Scope:
        """The list that is shown: chats, archive or trash."""
        return self._scope

    @property
    def chats_in_memory(self) -> int:
        """The number of chats in memory, which is bounded."""
        return sum(len(page) for page in self._pages.values())

    def reload(self, scope: Scope | None = None) -> None:
        """Read the list again.

        Args:
            scope: The list to show; None for the same.
        """
        scope = scope or self._scope
        layout = layout_of(self._chats, scope, self.folded, datetime.now().astimezone())
        # With the same number of rows, no view has to lay them all out again.
        same = layout.rows == self._layout.rows > 0
        if not same:
            self.beginResetModel()
        self._pages.clear()
        self._scope, self._layout = scope, layout
        if same:
            self.dataChanged.emit(self.index(0), self.index(layout.rows - 1))
        else:
            self.endResetModel()

    def set_folded(self, folder_id: str, folded: bool) -> None:
        """Fold or unfold a folder, from the next `reload` on."""
        (self.folded.add if folded else self.folded.discard)(folder_id)

    def fold(self, folder_ids: Iterable[str]) -> None:
        """Fold folders, from the next `reload` on."""
        self.folded.update(folder_ids)

    def unfold_for(self, chat_id: str) -> None:
        """Unfold the folder of a chat, so that the next `reload` lists it."""
        chat = self._chats.chat(chat_id)
        if chat and chat.folder_id:
            self.folded.discard(chat.folder_id)

    def row(self, index: Index) -> Row | None:
        """Return a row; None for a chat that was removed since the list was read."""
        if not index.isValid():
            return None
        spot = self._layout.spot(index.row())
        if spot.offset is None:
            return spot.section.head
        chat = self._chat(spot.section.place, spot.offset)
        return ChatRow(chat, spot.section.place) if chat else None

    def chat_at(self, row: int) -> ListedChat | None:
        """Return the chat in a row; None if there is none."""
        if not 0 <= row < self._layout.rows:
            return None
        found = self.row(self.index(row))
        return found.chat if isinstance(found, ChatRow) else None

    def index_of(self, chat_id: str) -> QModelIndex:
        """Return the index of a chat; not valid if it is not listed."""
        chat = self._chats.chat(chat_id)
        if chat is None:
            return QModelIndex()
        place = place_of(chat)
        # Start with the last chat of the same time: chats with equal times have no fixed order.
        offset = self._chats.count_since(place, sort_time(chat)) - 1
        while offset >= 0:
            other = self._chat(place, offset)
            if other is None or other.id == chat_id or sort_time(other) != sort_time(chat):
                break
            offset -= 1
        row = self._layout.row_of(place, offset)
        found = None if row is None else self.chat_at(row)
        return (
            self.index(row) if row is not None and found and found.id == chat_id else QModelIndex()
        )

    def index_of_folder(self, folder_id: str) -> QModelIndex:
        """Return the index of a folder; not valid if it is not listed."""
        row = 0
        for section in self._layout.sections:
            if isinstance(section.head, FolderRow) and section.head.folder.id == folder_id:
                return self.index(row)
            row += section.rows
        return QModelIndex()

    def rows_of(self, chat_ids: Iterable[str]) -> list[int]:
        """Return the rows of these chats, sorted, without chats that are not listed."""
        remaining = set(chat_ids)
        if len(remaining) <= 2:
            found = (self.index_of(chat_id) for chat_id in remaining)
            return sorted(index.row() for index in found if index.isValid())
        rows: list[int] = []
        for section in self._layout.sections:
            for start in range(section.offset, section.offset + section.count, _AT_ONCE):
                limit = min(_AT_ONCE, section.offset + section.count - start)
                for offset, chat in enumerate(self._chats.page(section.place, start, limit), start):
                    row = self._layout.row_of(section.place, offset)
                    if chat.id in remaining and row is not None:
                        rows.append(row)
                        remaining.discard(chat.id)
                if not remaining:
                    return rows
        return rows

    def ids_in(self, first: int, last: int) -> list[str]:
        """Return the ids of the chats in a range of rows, both ends included."""
        spots = [self._layout.spot(row) for row in range(first, last + 1)]
        runs: OrderedDict[Place, list[int]] = OrderedDict()
        for spot in spots:
            if spot.offset is not None:
                runs.setdefault(spot.section.place, []).append(spot.offset)
        ids: list[str] = []
        for place, offsets in runs.items():
            low, high = offsets[0], offsets[-1]
            for start in range(low, high + 1, _AT_ONCE):
                limit = min(_AT_ONCE, high + 1 - start)
                ids += [chat.id for chat in self._chats.page(place, start, limit)]
        return ids

    def are_pinned(self, first: int, last: int) -> bool:
        """Return whether all chats in a range of rows are pinned, both ends included."""
        spots = map(self._layout.spot, range(first, last + 1))
        return all(spot.section.place == PINNED for spot in spots if spot.offset is not None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt declares it
        """Return the number of rows of the list."""
        return 0 if parent.isValid() else self._layout.rows

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a row (`ROW`), or its text for a view, a tooltip or a screen reader."""
        row = self.row(index)
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(filter(None, (self._text(row), self._state(row))))
        text_roles = (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.EditRole,
        )
        return self._text(row) if role in text_roles else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return whether a row can be selected, dragged, renamed or dropped on."""
        flag = Qt.ItemFlag
        row = self.row(index)
        usable = flag.ItemIsEnabled | flag.ItemIsSelectable
        if isinstance(row, ChatRow):
            drop_flag = flag.ItemIsDropEnabled if self._scope == "chats" else flag.NoItemFlags
            edit_flag = flag.NoItemFlags if self._scope == "trash" else flag.ItemIsEditable
            return usable | flag.ItemIsDragEnabled | drop_flag | edit_flag
        if isinstance(row, FolderRow):
            return usable | flag.ItemIsEditable | flag.ItemIsDropEnabled
        return flag.NoItemFlags

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit `renamed` with the entered name; return False if nothing changed."""
        name, row = str(value).strip(), self.row(index)
        if role != Qt.ItemDataRole.EditRole or not name or name == self._text(row):
            return False
        self.renamed.emit(row, name)
        return True

    def supportedDropActions(self) -> Qt.DropAction:
        """Return that dropped chats are moved."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Return the type of dragged chats."""
        return [CHATS_MIME]

    def mimeData(self, indexes: list[QModelIndex]) -> QMimeData:  # type: ignore[override]
        """Return the ids of the dragged chats, one per line."""
        rows = (self.row(index) for index in indexes)
        ids = [row.chat.id for row in rows if isinstance(row, ChatRow)]
        data = QMimeData()
        data.setData(CHATS_MIME, "\n".join(ids).encode())
        return data

    def _chat(self, place: Place, offset: int) -> ListedChat | None:
        page, within = divmod(offset, _PAGE)
        key = (place, page)
        if key not in self._pages:
            self._pages[key] = self._chats.page(place, page * _PAGE, _PAGE)
            while len(self._pages) > _PAGES:
                self._pages.popitem(last=False)
        self._pages.move_to_end(key)
        chats = self._pages[key]
        return chats[within] if within < len(chats) else None

    def _text(self, row: Row | None) -> str:
        if isinstance(row, ChatRow):
            return row.chat.title
        if isinstance(row, FolderRow):
            return row.folder.name
        return self._heading(row.group) if isinstance(row, Heading) else ""

    def _spoken(self, row: Row | None) -> str:
        if not isinstance(row, FolderRow):
            return ", ".join(filter(None, (self._text(row), self._state(row))))
        words = (
            self.tr("Folder {name}, collapsed, {count} chats")
            if row.folded
            else self.tr("Folder {name}, expanded, {count} chats")
        )
        text = words.format(name=row.folder.name, count=row.count)
        return ", ".join((text, *self._marks_in(row)))

    def _marks_in(self, row: FolderRow) -> list[str]:
        """Return a text with the number of chats for each mark in a folded folder."""
        words: dict[ChatMark, str] = {
            "writing": self.tr("chats with an answer being written: {count}"),
            "failed": self.tr("chats whose last answer failed: {count}"),
            "interrupted": self.tr("chats whose last answer was interrupted: {count}"),
            "unread": self.tr("chats with a new answer: {count}"),
            "waiting": self.tr("chats with messages waiting to be sent: {count}"),
        }
        return [words[mark].format(count=count) for mark, count in row.marks.items()]

    def _state(self, row: Row | None) -> str:
        """Return the meaning of a row's mark as text."""
        if isinstance(row, FolderRow):
            return "\n".join(self._marks_in(row))
        words: dict[ChatMark, str] = {
            "": "",
            "writing": self.tr("an answer is being written"),
            "failed": self.tr("the last answer failed"),
            "interrupted": self.tr("the last answer was interrupted"),
            "unread": self.tr("there is a new answer"),
            "waiting": self.tr("messages are waiting to be sent"),
        }
        return words[row.chat.mark] if isinstance(row, ChatRow) else ""

    def _heading(self, group: Group) -> str:
        names: dict[Group, str] = {
            "pinned": self.tr("Pinned"),
            "folders": self.tr("Folders"),
            "today": self.tr("Today"),
            "yesterday": self.tr("Yesterday"),
            "week": self.tr("Last 7 days"),
            "earlier": self.tr("Earlier"),
        }
        return names[group]


def ids_of(data: QMimeData) -> list[str]:
    """Return the ids of the dragged chats."""
    return bytes(data.data(CHATS_MIME).data()).decode().split("\n")
