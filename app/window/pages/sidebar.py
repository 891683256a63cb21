"""The sidebar: new chat, search, the chats, the downloads, and buttons for the other pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QHBoxLayout,
    QMenu,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.chats.history.presenters.chats import Chats
from app.chats.sidebar.pages.chat_list import ChatList
from app.chats.sidebar.pages.chat_model import ChatModel
from app.chats.sidebar.pages.place_bar import PlaceBar
from app.chats.sidebar.pages.rows import Scope
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.timer import timer
from app.kit.widgets.composing import ComposedLine
from app.kit.widgets.fields import LONGEST_WORDS
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.leading_picture import LeadingPicture
from app.kit.widgets.menu import Menu
from app.kit.widgets.menu_button import pop_up
from app.kit.widgets.picture import Picture
from app.window.pages.pages import Page, pages

if TYPE_CHECKING:
    from app.chats.search.values.hits import Hit
    from app.chats.sidebar.pages.bulk_bar import BulkBar
    from app.chats.sidebar.pages.download_badge import DownloadBadge
    from app.chats.sidebar.pages.hit_list import HitList
    from app.kit.widgets.card import Notice
    from app.models.downloads.values.downloads import Download

_SEARCH_MS = 150
_LOW = 580
"""In pixels. In a lower window the fixed parts shrink to leave room for the chats."""
_WIDE = 420
"""In pixels. In a low sidebar that is wider, the search is beside the button for a new chat."""
NARROWEST = 216


class Sidebar(QWidget):
    """The sidebar. Parts that are rarely needed are created on first use.

    Signals:
        page(name, part): The user wants this page of `app.window.pages.pages`.
        searched(words): The user has paused while typing in the search field.
        hit(Hit): The user chose a search hit.
        bulk_wanted(action), bulk_fill(menu): See `BulkBar`.
    """

    new_chat = Signal()
    searched = Signal(str)
    scratch = Signal()
    page = Signal(str, str)
    settings = Signal()
    hide_me = Signal()
    show_me = Signal()
    hit = Signal(object)
    bulk_wanted = Signal(str)
    bulk_fill = Signal(QMenu)

    def __init__(self, chats: Chats, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setProperty("look", "side")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setMinimumWidth(NARROWEST)
        self._is_low = self._is_wide = False
        self._page_name = ""
        self._marked: dict[QAbstractButton, frozenset[str]] = {}
        self.model = ChatModel(chats, self)
        # Created in the order in which they are shown, because that becomes the order of the Tab
        # key.
        self._top = self._make_top()
        self._new = _button("plus", self.tr("New chat"), "newChat", self)
        self._new.clicked.connect(self.new_chat)
        self.search = ComposedLine(self)
        self.search.setObjectName("search")
        self.search.setMaxLength(LONGEST_WORDS)
        self.search.setAccessibleName(self.tr("Search chats"))
        self.search.setPlaceholderText(self.tr("Search"))
        LeadingPicture("search", self.search)
        self._pause = timer(self, _SEARCH_MS, lambda: self.searched.emit(self.search.text()))
        self.search.textChanged.connect(self._restart)
        self.search.returnPressed.connect(lambda: self.hits.choose_first())  # noqa: PLW0108 - made when needed
        self.places = PlaceBar(self)
        self._stack = QStackedWidget(self)
        self.chats = ChatList(self.model, self._stack)
        self._stack.addWidget(self.chats)
        self.chats.selected.connect(self._selected)
        self._note = Label("", "muted", name="noChats", wrap=True, parent=self)
        self._note.setContentsMargins(10, 0, 10, 0)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(GRID)
        column.addLayout(self._top)
        column.addWidget(self._new)
        column.addWidget(self.search)
        column.addWidget(self.places)
        column.addWidget(self._note)
        column.addWidget(self._stack, 1)
        self._rows = self._make_bottom(icons=False)
        column.addWidget(self._rows)

    @cached_property
    def hits(self) -> HitList:
        """The list of search hits, shown instead of the chats."""
        from app.chats.sidebar.pages.hit_list import HitList

        hits = HitList(self._stack)
        hits.left.connect(self.focus_search)
        hits.chosen.connect(self.hit)
        self._stack.addWidget(hits)
        self._order_tabs(hits=hits)
        return hits

    @cached_property
    def bulk(self) -> BulkBar:
        """The bar for several selected chats, below the list."""
        from app.chats.sidebar.pages.bulk_bar import BulkBar

        bulk = BulkBar(self)
        bulk.clear_selection.connect(self.chats.clear_selection)
        bulk.wanted.connect(self.bulk_wanted)
        bulk.fill.connect(self.bulk_fill)
        self._column.insertWidget(self._column.indexOf(self._stack) + 1, bulk)
        self._order_tabs(bulk=bulk)
        return bulk

    @cached_property
    def _drop_hint(self) -> Notice:
        """The hint about dropping files here, over the end of the list so that nothing moves."""
        from app.kit.widgets.card import drop_hint

        words = self.tr("Drop exported chats here to import them.")
        hint = drop_hint("chatsDropHint", "download", words)
        hint.setParent(self._stack)
        return hint

    def show_drop_hint(self, visible: bool) -> None:
        """Show or hide that exports of chats can be dropped here."""
        if not visible and "_drop_hint" not in vars(self):
            return
        hint, room = self._drop_hint, self._stack.rect()
        hint.ensurePolished()
        height = max(hint.heightForWidth(room.width()), hint.minimumSizeHint().height())
        hint.setGeometry(0, room.height() - height, room.width(), height)
        hint.setVisible(visible)
        hint.raise_()

    @cached_property
    def badge(self) -> DownloadBadge:
        """The badge of the downloads, above the buttons for the other pages."""
        from app.chats.sidebar.pages.download_badge import DownloadBadge

        badge = DownloadBadge(self)
        badge.clicked.connect(lambda: self.page.emit("models", "downloads"))
        self._column.insertWidget(self._column.indexOf(self._rows), badge)
        self._order_tabs(badge=badge)
        badge.set_low(self._is_low)
        return badge

    @cached_property
    def _icons(self) -> QWidget:
        """The buttons for the other pages as a row of icons, for a low window."""
        icons = self._make_bottom(icons=True)
        self._column.addWidget(icons)
        self._order_tabs(_icons=icons)
        return icons

    def _order_tabs(self, **created: QWidget) -> None:
        """Put widgets that were created later in their visible place in the Tab order.

        Args:
            created: The widget that was just created, by its attribute's name.
        """
        parts = vars(self) | created
        order: list[QWidget] = [self.chats, *self.chats.row_buttons]
        for name in ("hits", "bulk", "badge", "_rows", "_icons"):
            if name in parts:
                order += parts[name].findChildren(QAbstractButton) or [parts[name]]
        for previous, following in pairwise(order):
            self.setTabOrder(previous, following)

    def show_downloads(self, downloads: Sequence[Download]) -> None:
        """Show the downloads; the badge is created for the first one."""
        if downloads or "badge" in vars(self):
            self.badge.show_downloads(downloads)

    def refresh(self, current: str | None) -> None:
        """Update the list of chats.

        Args:
            current: The chat that the window shows.
        """
        self.chats.reload()
        self.chats.show_chat(current)
        self._show_list()

    def mark_page(self, name: str) -> None:
        """Mark the button of the open page, or *More* for a page without one; "" for a chat."""
        self._page_name = name
        for button, names in self._marked.items():
            button.setChecked(name in names)

    def go_to(self, scope: Scope) -> None:
        """List the chats of this scope, and clear the search."""
        if self.search.text():
            self.search.clear()
            self._stack.setCurrentWidget(self.chats)
        if scope != self.model.scope:
            self.chats.reload(scope)
            self.chats.clear_selection()
        self._show_list()
        self.chats.setFocus()

    def rename_current(self) -> None:
        """Let the user rename the focused row, or the current chat if the list has no focus."""
        if not self.chats.hasFocus():
            self.show_me.emit()
            self.go_to("chats")
            self.chats.go_to_shown()
        self.chats.rename_current()

    def show_hits(self, words: str, hits: Sequence[Hit]) -> None:
        """Show the search hits instead of the chats."""
        self.hits.show_hits(hits)
        self._stack.setCurrentWidget(self.hits)
        self.places.hide()
        if "bulk" in vars(self):
            self.bulk.hide()
        self._show_note("" if hits else self.tr("No chat contains “{words}”.").format(words=words))

    def show_list(self) -> None:
        """Show the chats again instead of the search hits."""
        self._stack.setCurrentWidget(self.chats)
        self._show_list()

    def escape(self) -> bool:
        """Leave the search or the bulk selection; return False if neither was active."""
        searched = self._stack.currentWidget() is not self.chats
        if self.search.text() and (self.search.hasFocus() or (searched and self.hits.hasFocus())):
            self.search.clear()
            return True
        focus = QApplication.focusWidget()
        if self.chats.is_bulk and focus is not None and self.isAncestorOf(focus):
            self.chats.clear_selection()
            return True
        return False

    def focus_search(self) -> None:
        """Focus the search field and select its text."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shrink the fixed parts if there is little room."""
        super().resizeEvent(event)
        self._make_room()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from the search field into the hits with the Down key."""
        searched = self._stack.currentWidget() is not self.chats
        if event.key() == Qt.Key.Key_Down and searched and self.search.hasFocus():
            self.hits.enter()
        else:
            super().keyPressEvent(event)

    def _selected(self, count: int) -> None:
        if count > 1 or "bulk" in vars(self):
            self.bulk.show_for(count, self.model.scope, pinned=self.chats.are_pinned)
            self._make_room()

    def _make_room(self) -> None:
        """Shrink the fixed parts in a low window, to leave room for the chats."""
        low = self.height() < scaled(_LOW)
        wide = low and self.width() >= scaled(_WIDE)
        if (low, wide) != (self._is_low, self._is_wide):
            self._is_low, self._is_wide = low, wide
            self._arrange_top()
            if "badge" in vars(self):
                self.badge.set_low(low)
        shows_bulk = "bulk" in vars(self) and not self.bulk.isHidden()
        self._rows.setHidden(low)
        if low or "_icons" in vars(self):
            self._icons.setHidden(not low or shows_bulk)
        edge, gap = (GRID, GRID // 2) if low else (12, GRID)
        self._column.setContentsMargins(scaled(12), scaled(edge), scaled(12), scaled(edge))
        self._column.setSpacing(scaled(gap))

    def _arrange_top(self) -> None:
        """Put the parts above the list into one row in a low window, else into rows."""
        for part in self._brand:
            part.setHidden(self._is_low)
        if self._is_low:
            self._top.insertWidget(1, self._new, 0 if self._is_wide else 1)
        else:
            self._column.insertWidget(1, self._new)
        if self._is_wide:
            self._top.insertWidget(2, self.search, 1)
        else:
            self._top.removeWidget(self.search)
            self._column.removeWidget(self.search)
            self._column.insertWidget(self._column.indexOf(self.places), self.search)

    def _restart(self) -> None:
        self.search.setClearButtonEnabled(True)
        self._pause.start()

    def _show_list(self) -> None:
        if self._stack.currentWidget() is not self.chats:
            return
        scope, count = self.model.scope, self.model.rowCount()
        self.places.show()
        self.places.show_place(scope, count)
        notes: dict[Scope, str] = {
            "chats": self.tr("Your chats will be listed here."),
            "archive": self.tr(
                "The archive is empty. Archived chats appear here instead of in the list."
            ),
            "trash": self.tr("The trash is empty. Deleted chats can be restored from here."),
        }
        self._show_note("" if count else notes[scope])

    def _show_note(self, words: str) -> None:
        self._note.setText(words)
        self._note.setVisible(bool(words))

    def _make_top(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        fold = IconButton("panel", self.tr("Hide the sidebar"), "hideSidebar", parent=self)
        fold.clicked.connect(self.hide_me)
        self._brand = (
            Picture("flame", "accent_text", 22, self),
            Label(self.tr("Hearth"), "title", parent=self),
        )
        row.addWidget(fold)
        flame, name = self._brand
        row.addWidget(flame)
        row.addWidget(name, 1)
        return row

    def _make_bottom(self, *, icons: bool) -> QWidget:
        """Create the buttons for the other pages: below each other, or as a row of icons."""
        bottom = QWidget(self)
        scratch = _button("scratch", self.tr("Scratch chat"), "scratchChat", bottom, icon=icons)
        scratch.clicked.connect(self.scratch)
        shown = [self._page_button(page, bottom, icon=icons) for page in pages() if page.drawing]
        settings = _button("gear", self.tr("Settings"), "settings", bottom, icon=icons)
        settings.clicked.connect(self.settings)
        more = _button("more", self.tr("More"), "morePages", bottom, icon=icons)
        more.clicked.connect(lambda: self._open_more(more))
        self._marked[more] = frozenset(page.name for page in pages() if not page.drawing)
        more.setCheckable(True)
        layout = QHBoxLayout(bottom) if icons else QVBoxLayout(bottom)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0 if icons else 2)
        for button in (scratch, *shown, settings, more):
            if icons:
                layout.addWidget(button, 1, Qt.AlignmentFlag.AlignCenter)
            else:
                layout.addWidget(button)
        self.mark_page(self._page_name)
        return bottom

    def _page_button(self, page: Page, parent: QWidget, *, icon: bool) -> QAbstractButton:
        command, name = page.commands[0], f"show{page.name.capitalize()}"
        button = _button(page.drawing, command.text, name, parent, icon=icon)
        button.setCheckable(True)
        button.clicked.connect(lambda: self.page.emit(page.name, command.part))
        button.clicked.connect(lambda: self.mark_page(self._page_name))
        self._marked[button] = frozenset((page.name,))
        return button

    def _open_more(self, button: QWidget) -> None:
        """Open the menu of the pages without a button of their own."""
        menu = Menu(button)
        menu.setObjectName("pagesMenu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for page in pages():
            if page.drawing:
                continue
            for command in page.commands:
                action = menu.addAction(command.text)
                action.setObjectName(command.name)
                action.triggered.connect(partial(self._go, page.name, command.part))
        self.mark_page(self._page_name)
        pop_up(menu, button)

    def _go(self, page: str, part: str, _checked: bool = False) -> None:
        self.page.emit(page, part)


def _button(
    drawing: str, text: str, name: str, parent: QWidget, *, icon: bool = False
) -> QAbstractButton:
    if icon:
        return IconButton(drawing, text, name, parent=parent)
    return LabelledButton(drawing, text, name, look="quiet", parent=parent)
