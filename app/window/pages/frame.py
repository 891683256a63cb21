"""The window's frame, which is painted first: the sidebar, the header and the stack of pages."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSize
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from app.chats.composer.pages.composer import Composer
from app.chats.history.presenters.chats import Chats
from app.chats.history.values.chat import UNTITLED
from app.chats.history.values.places import ALL
from app.chats.pages.header import Header
from app.kit.focus_in_sight import scroll_to_focus
from app.kit.look.scale import scaled, zoom
from app.kit.widgets.enter import press_focused
from app.kit.widgets.toast_room import ToastRoom
from app.models.library.values.entry import STARTER
from app.settings.values.fields import Settings
from app.window.pages.sidebar import Sidebar
from app.window.pages.signal_buffer import SignalBuffer
from app.window.values.window_state import WindowState

_LEAST_FOR_BOTH = 740
"""In pixels. In a narrower window an open sidebar takes the place of the page."""
_LEAST_FOR_PAGE = 440
"""The width that a page needs, in pixels. If there is less, a panel takes its place."""
_PANEL = 344


class WindowFrame(QMainWindow):
    """The window's frame with the chats and an empty message field, which is quick to create.

    `early` and `early_messages` keep the user's actions until the rest of the window exists, and
    then pass them on.
    """

    def __init__(self, chats: Chats, settings: Settings) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("Hearth")
        self.setMinimumSize(520, 420)
        self.resize(1120, 760)
        self._sidebar_width = WindowState().sidebar_width
        self._wants_sidebar = True
        self.last_chat = ""
        self._sidebar_covers_page = False
        self._is_narrow = False
        self._panel: QWidget | None = None
        self._lay_out(chats)
        self.composer.set_send_with(settings.send_with)
        draft = chats.drafts.of(None)
        self.sidebar.refresh(None)
        if settings.model == STARTER and not draft and not chats.count(ALL):
            # The first screen comes in their place.
            self.composer.hide()
            self.header.set_first(True)
        else:
            self.header.set_title(self.tr(UNTITLED))
            self.composer.set_text(draft)
            self.composer.focus()
        side = self.sidebar
        self.early_messages = SignalBuffer([self.composer.send])
        self.early = SignalBuffer(
            [
                *(side.new_chat, side.scratch, side.page, side.settings, side.searched),
                *(side.hide_me, side.show_me, side.chats.opened, side.chats.chosen),
                self.header.model.clicked,
                *(self.header.show_sidebar, self.header.toggle_offline, self.header.chat_settings),
            ]
        )

    def restore(self, state: WindowState) -> None:
        """Restore the window's geometry and layout.

        The window never becomes larger than the screen. This matters at the first start and on a
        screen of another size, for which Qt refuses to restore the old geometry.
        """
        geometry = QByteArray.fromHex(QByteArray(state.geometry.encode()))
        if not self.restoreGeometry(geometry):
            # The window system adds a title bar and reports its height only later.
            bar = self.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
            room = self.screen().availableSize() - QSize(0, bar)
            self.resize(self.size().boundedTo(room))
        if state.folded:
            self.sidebar.model.folded = set(state.folded)
            self.sidebar.chats.reload()
        self._sidebar_width = state.sidebar_width
        self._wants_sidebar = state.sidebar
        self.last_chat = state.chat
        self._arrange()

    def state(self) -> WindowState:
        """Return the window's geometry and layout, to be saved."""
        return WindowState(
            geometry=self.saveGeometry().toHex().toStdString(),
            sidebar=self._wants_sidebar,
            sidebar_width=self._sidebar_width,
            chat=self.last_chat,
            folded=tuple(sorted(self.sidebar.model.folded)),
        )

    def show_page(self, page: QWidget) -> None:
        """Show this page instead of the current one; add it to the stack if it is new."""
        if self._stack.indexOf(page) < 0:
            self._stack.addWidget(page)
        self._stack.setCurrentWidget(page)

    def is_shown(self, page: QWidget) -> bool:
        """Return whether this is the current page."""
        return self._stack.currentWidget() is page

    def shown_page(self) -> QWidget | None:
        """Return the current page; None before there is one."""
        return self._stack.currentWidget()

    def remove_placeholder(self) -> None:
        """Remove the placeholder page, after the composer has moved to the chat page."""
        self._stack.removeWidget(self._placeholder)
        self._placeholder.deleteLater()

    def set_sidebar(self, shown: bool) -> None:
        """Show or hide the sidebar: beside the page, or instead of it in a narrow window."""
        if self._is_narrow:
            self._sidebar_covers_page = shown
        else:
            self._wants_sidebar = shown
        self._arrange()

    def show_panel(self, panel: QWidget | None) -> None:
        """Show a panel beside the page, or instead of it in a narrow window; None hides it."""
        if self._panel is not None:
            self._panel.hide()
        self._panel = panel
        if panel is not None and self._splitter.indexOf(panel) < 0:
            self._splitter.addWidget(panel)
        self._arrange()

    def uncover_page(self) -> bool:
        """Show the page again if the sidebar or a panel covers it; return whether one did."""
        was_covered = self._main.isHidden()
        if self._sidebar_covers_page:
            self.set_sidebar(False)
        if self._main.isHidden():
            self.show_panel(None)
        return was_covered

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button on Enter."""
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus for Tab, and scroll to it."""
        moved = super().focusNextPrevChild(forward)
        scroll_to_focus(self)
        return moved

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Adapt the layout to the new width."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Apply the widths at the current zoom; hide the sidebar if there is no room for it."""
        panel_width = 0 if self._panel is None else scaled(_PANEL)
        room = self.width() - panel_width
        self._is_narrow = room < scaled(_LEAST_FOR_BOTH)
        self._sidebar_covers_page &= self._is_narrow
        shown = self._sidebar_covers_page if self._is_narrow else self._wants_sidebar
        is_covered = self._panel is not None and room < scaled(_LEAST_FOR_PAGE)
        self._main.setVisible(not self._sidebar_covers_page and not is_covered)
        if self._panel is not None:
            self._panel.setVisible(not self._sidebar_covers_page)
        self.sidebar.setVisible(shown)
        self.header.set_sidebar_hidden(not shown)
        side = scaled(self._sidebar_width)
        self._splitter.setSizes([side, max(1, room - side), panel_width])

    def _take_width(self) -> None:
        """Store the width that the user gave the sidebar."""
        self._sidebar_width = round(self._splitter.sizes()[0] / zoom())

    def _lay_out(self, chats: Chats) -> None:
        """Create the widgets from the window inwards: a new parent would style them again."""
        whole = QWidget(self)
        self._splitter = QSplitter(whole)
        self._splitter.setObjectName("splitter")
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self.sidebar = Sidebar(chats, self._splitter)
        self._splitter.splitterMoved.connect(self._take_width)
        main = self._main = QWidget(self._splitter)
        self.header = Header(main)
        self._stack = QStackedWidget(main)
        self._placeholder = QWidget(self._stack)
        self._stack.addWidget(self._placeholder)
        self.composer = Composer(self._placeholder)
        below = QVBoxLayout(self._placeholder)
        below.setContentsMargins(0, 0, 0, 0)
        below.addStretch(1)
        below.addWidget(self.composer)
        column = QVBoxLayout(main)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self._stack, 1)
        column.addWidget(ToastRoom("bottom", parent=main))
        self._splitter.setStretchFactor(1, 1)
        rows = QVBoxLayout(whole)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self._splitter, 1)
        rows.addWidget(ToastRoom("bottom", parent=whole))  # where the sidebar covers the page
        self.setCentralWidget(whole)
