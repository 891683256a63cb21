"""The help page: all guides, their search, and the open guide; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.help.pages.guide_list import GuideList
from app.help.pages.guide_page import GuidePage
from app.kit.look.scale import scaled
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.timer import timer
from app.kit.widgets.fields import LineField
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import FixedHead, PageHead
from app.settings.values.fields import Settings
from engines.errors import UserError

if TYPE_CHECKING:
    from app.help.values.guides import Guide, GuideSection, SectionHit
    from app.markdown.blocks import Block
    from app.settings.presenters import SettingsService

_TYPING_MS = 120


class ReadableGuides(Protocol):
    """The guides; each method raises GuidesUnreadable if a file is missing or damaged."""

    @property
    def all(self) -> Sequence[Guide]:
        """All guides, in the order of the list."""
        ...

    def guide(self, topic: str) -> Guide:
        """Return the guide about a topic."""
        ...

    def blocks(self, guide: Guide) -> Sequence[Block]:
        """Return the parsed text of a guide."""
        ...

    def section_at(self, address: str) -> GuideSection | None:
        """Return the section that a link leads to; None if it leads to no guide."""
        ...

    def search(self, words: str) -> Sequence[SectionHit]:
        """Return the sections that contain all words, the best first."""
        ...


class HelpPage(QWidget):
    """The help page: a list of guides or search results, and the page of one guide."""

    def __init__(
        self,
        guides: ReadableGuides,
        settings: SettingsService,
        notifier: Notifier,
        navigation: Navigation,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._navigation = navigation
        self.setObjectName("helpPage")
        self._guides = guides
        self._notifier = notifier
        self._list = GuideList()
        self._list.opened.connect(self._open)
        self._list.moved_up.connect(self._focus_search)
        self._page = GuidePage(scaled(settings.current.text_size))
        self._page.back.connect(self._show_list)
        self._page.link.connect(self._follow_link)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._list)
        self._stack.addWidget(self._page)
        self._pause = timer(self, _TYPING_MS, self._search)
        self._head().lay_over(self._stack, self)
        settings.changed.connect(self._apply_settings)
        self._search()

    def showEvent(self, event: QShowEvent) -> None:
        """Focus the search."""
        super().showEvent(event)
        self._focus_search()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from the search field into the list with the Down key."""
        if event.key() == Qt.Key.Key_Down and self._words.hasFocus():
            self._search_now()
            self._list.enter()
        else:
            super().keyPressEvent(event)

    def _head(self) -> FixedHead:
        shortcuts = LabelledButton("keyboard", self.tr("Shortcuts"), "shortcuts")
        shortcuts.clicked.connect(self._navigation.show_shortcuts)
        head = PageHead(self.tr("Help"), "helpBack", self._navigation.go_to_chat, shortcuts)
        self._words = LineField(
            "searchGuides",
            self.tr("Search the guides"),
            hint=self.tr("Search the guides"),
            clears=True,
        )
        self._words.textChanged.connect(lambda _: self._pause.start())
        self._words.returnPressed.connect(self._open_first)
        return FixedHead(head, self._words)

    def _apply_settings(self, settings: Settings) -> None:
        self._page.set_text_size(scaled(settings.text_size))

    def _focus_search(self) -> None:
        self._words.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._words.selectAll()

    def _search(self) -> None:
        """List the sections that contain the words, or all guides if there are none."""
        words = self._words.text()
        try:
            if words.strip():
                self._list.show_results(words, self._guides.search(words))
            else:
                self._list.show_all(self._guides.all)
        except UserError as error:
            self._list.show_problem(error)
        self._stack.setCurrentWidget(self._list)

    def _search_now(self) -> None:
        if self._pause.isActive():
            self._pause.stop()
            self._search()

    def _open_first(self) -> None:
        self._search_now()
        if self._stack.currentWidget() is self._list:
            self._list.open_first()

    def _show_list(self) -> None:
        self._stack.setCurrentWidget(self._list)
        self._focus_search()

    def _open(self, topic: str, number: int) -> None:
        guide = self._guides.guide(topic)
        self._stack.setCurrentWidget(self._page)
        self._page.show_guide(guide, self._guides.blocks(guide), number, self._words.text())

    def _follow_link(self, address: str) -> None:
        """Open a linked guide at once; ask before opening an address outside Hearth."""
        section = self._guides.section_at(address)
        if section is None:
            self._notifier.offer_to_open(address)
        else:
            self._open(section.guide.topic, section.number)
