"""The dialog that shows the branches of a chat, reduced to its forks, to switch between them."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPixmap
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.chats.history.values.tree import Stretch, Tree
from app.kit.look.format import day
from app.kit.look.icons import icon
from app.kit.look.theme import GRID, theme_of
from app.kit.widgets.dialog import EnterDialog
from app.kit.widgets.label import Label

_ID = Qt.ItemDataRole.UserRole
_MARK = 16
"""The size in pixels of the mark before the current branch; the others have as much room."""


class TreeDialog(EnterDialog):
    """The dialog that shows the branches of a chat.

    The arrow keys move the selection, and Enter switches to it.

    Args:
        tree: The branches of the chat.
        leaf_id: The last message of the current branch.

    Signals:
        chosen(message_id): The user wants the branch through this message.
    """

    chosen = Signal(str)

    def __init__(self, tree: Tree, leaf_id: str | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("treeDialog")
        self.setWindowTitle(self.tr("Branches of this chat"))
        self.resize(680, 440)
        self._current_ids = frozenset(tree.path(leaf_id))
        blank = QPixmap(_MARK, _MARK)
        blank.fill(Qt.GlobalColor.transparent)
        self._blank = QIcon(blank)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 2 * GRID)
        column.setSpacing(GRID + 4)
        column.addWidget(Label(self.windowTitle(), "title"))
        self._tree = QTreeWidget()
        self._tree.setObjectName("branchTree")
        self._tree.setAccessibleName(self.tr("Branches"))
        self._tree.setHeaderHidden(True)
        self._tree.setColumnCount(2)
        self._tree.header().setStretchLastSection(False)
        self._tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self._tree.setIconSize(QSize(_MARK, _MARK))
        self._tree.setIndentation(2 * GRID + 4)
        self._tree.setUniformRowHeights(True)
        self._tree.itemActivated.connect(self._go)
        stretches = tree.stretches()
        for stretch in stretches:
            self._add(stretch, self._tree.invisibleRootItem())
        self._tree.expandAll()
        note = self.tr("This chat has no branches yet. Edit a message or answer again to make one.")
        if len(stretches) > 1 or any(stretch.after for stretch in stretches):
            note = self.tr(
                "The current branch is marked. Press Enter or double-click to show another."
            )
        column.addWidget(Label(note, "muted", name="treeNote", wrap=True))
        column.addWidget(self._tree, 1)
        close = QPushButton(self.tr("Close"))
        close.setObjectName("treeClose")
        close.setAutoDefault(False)
        close.clicked.connect(self.reject)
        go = QPushButton(self.tr("Show this branch"))
        go.setObjectName("treeGo")
        go.setProperty("look", "primary")
        go.setDefault(True)
        go.clicked.connect(lambda: self._go(self._tree.currentItem()))
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addStretch(1)
        row.addWidget(close)
        row.addWidget(go)
        column.addLayout(row)
        self._tree.setFocus()

    def _add(self, whole: Stretch, root: QTreeWidgetItem) -> None:
        """Add a stretch without recursion: a chat can fork more often than Python can recurse."""
        waiting = [(whole, root)]
        while waiting:
            stretch, parent = waiting.pop(0)
            item = QTreeWidgetItem(parent, [self._words(stretch), self._facts(stretch)])
            item.setForeground(1, QColor(theme_of(self.palette()).muted))
            item.setIcon(0, self._blank)
            item.setData(0, _ID, stretch.first.id)
            item.setToolTip(0, stretch.first.words)
            spoken = f"{item.text(0)}, {item.text(1)}"
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, spoken)
            if stretch.first.id in self._current_ids:
                self._mark(item)
            waiting += [(after, item) for after in stretch.after]

    def _mark(self, item: QTreeWidgetItem) -> None:
        font = item.font(0)
        font.setBold(True)
        item.setFont(0, font)
        item.setIcon(0, icon("check", theme_of(self.palette()).accent_text, _MARK))
        spoken = self.tr("{text}, {item_text}, shown now").format(
            text=item.text(0), item_text=item.text(1)
        )
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, spoken)
        self._tree.setCurrentItem(item)

    def _words(self, stretch: Stretch) -> str:
        first = stretch.first
        sender = self.tr("You") if first.role == "user" else self.tr("Assistant")
        words = first.words or self.tr("(nothing yet)")
        return self.tr("{sender}: {words}").format(sender=sender, words=words)

    def _facts(self, stretch: Stretch) -> str:
        began = datetime.fromtimestamp(stretch.first.created).astimezone()
        today = began.date() == datetime.now().astimezone().date()
        when = f"{began:%H:%M}" if today else day(stretch.first.created)
        if stretch.count == 1:
            return self.tr("1 message · {when}").format(when=when)
        return self.tr("{count} messages · {when}").format(count=stretch.count, when=when)

    def _go(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.accept()
            self.chosen.emit(item.data(0, _ID))
