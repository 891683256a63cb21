"""Left of everything: new chat, search, the chats, what is on its way, and the other pages."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.core.conversation import Chat
from app.ui.icons import icon
from app.ui.sidebar.chat_list import ChatList
from app.ui.sidebar.download_badge import DownloadBadge
from app.ui.theme import GRID, theme_of
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.picture import Picture

_SEARCH_MS = 150
NARROWEST = 200


class Sidebar(QWidget):
    """searched(words): the user has stopped typing for a moment."""

    new_chat = Signal()
    searched = Signal(str)
    models = Signal()
    downloads = Signal()
    connections = Signal()
    settings = Signal()
    shortcuts = Signal()
    hide_me = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setProperty("look", "side")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(NARROWEST)
        self.chats = ChatList()
        self.search = QLineEdit()
        self.search.setObjectName("search")
        self.search.setAccessibleName(self.tr("Search chats"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setClearButtonEnabled(True)
        self._icon = self.search.addAction(
            icon("search", theme_of(self.palette()).muted, 16),
            QLineEdit.ActionPosition.LeadingPosition,
        )
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_SEARCH_MS)
        self._pause.timeout.connect(lambda: self.searched.emit(self.search.text()))
        self.search.textChanged.connect(self._restart)
        self._empty = Label("", "muted", name="noChats", wrap=True)
        self._empty.setContentsMargins(10, GRID, 10, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(GRID)
        column.addLayout(self._top())
        column.addWidget(self._button("plus", self.tr("New chat"), "newChat", self.new_chat))
        column.addWidget(self.search)
        column.addWidget(self._empty)
        column.addWidget(self.chats, 1)
        self.badge = DownloadBadge()
        self.badge.clicked.connect(self.downloads)
        column.addWidget(self.badge)
        below = QVBoxLayout()
        below.setSpacing(2)
        for drawing, text, name, signal in (
            ("box", self.tr("Models"), "models", self.models),
            ("ledger", self.tr("Connections"), "showConnections", self.connections),
            ("sliders", self.tr("Settings"), "settings", self.settings),
            ("keyboard", self.tr("Shortcuts"), "shortcuts", self.shortcuts),
        ):
            below.addWidget(self._button(drawing, text, name, signal))
        column.addLayout(below)

    def show_chats(self, chats: Sequence[Chat], current: str | None) -> None:
        self.chats.show_chats(chats, current)
        words = self.search.text().strip()
        if words:
            self._empty.setText(self.tr("No chat holds “{0}”.").format(words))
        else:
            self._empty.setText(self.tr("Your chats will be listed here."))
        self._empty.setVisible(not chats)

    def focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._icon.setIcon(icon("search", theme_of(self.palette()).muted, 16))

    def _restart(self) -> None:
        self._pause.start()

    def _top(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(Picture("flame", "accent_text", 22))
        row.addWidget(Label(self.tr("Hearth"), "title"))
        row.addStretch(1)
        fold = IconButton("panel", self.tr("Hide the sidebar"), "hideSidebar")
        fold.clicked.connect(self.hide_me)
        row.addWidget(fold)
        return row

    def _button(self, drawing: str, text: str, name: str, signal: SignalInstance) -> LabelledButton:
        button = LabelledButton(drawing, text, name, look="quiet")
        button.clicked.connect(signal)
        return button
