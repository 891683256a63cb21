"""The page of one guide, with search hits marked and a button back to the list."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from app.chats.find.pages.highlights import marked
from app.chats.search.values.snippets import marks_in
from app.help.values.guides import Guide
from app.kit.look.theme import GRID
from app.kit.text.markdown_view import MarkdownView
from app.kit.text.selected_text import scroll_to
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.page_head import BackLink
from app.kit.widgets.panel import Panel
from app.markdown.blocks import Block
from app.markdown.parser import Parser
from app.search.words import parse

_LINE = 5 * GRID
"""How far one press of an arrow key scrolls, in pixels."""
_KEY = Qt.Key
_SCROLLING = frozenset(
    {
        *(_KEY.Key_Down, _KEY.Key_Up, _KEY.Key_PageDown, _KEY.Key_PageUp),
        *(_KEY.Key_Space, _KEY.Key_Home, _KEY.Key_End),
    }
)
"""The keys that scroll; with Shift, Ctrl or Alt they do what they do in any text."""


class GuidePage(PartPage):
    """The page of a guide.

    Signals:
        back(): The user wants to return to the list of guides.
        link(address): The user clicked a link.
    """

    back = Signal()
    link = Signal(str)

    def __init__(self, text_size: int, parent: QWidget | None = None) -> None:
        super().__init__("guidePage", parent=parent)
        self._back = BackLink(self.tr("All guides"), "allGuides", self.back.emit)
        self.column.addWidget(self._back, 0, Qt.AlignmentFlag.AlignLeft)
        card = Panel("card", "guideCard", margins=(3, 2.5, 3, 2.5))
        self._view = _GuideText(Parser(), text_size)
        self._view.setObjectName("guideText")
        self._view.setAccessibleName(self.tr("Help"))
        self._view.link.connect(self.link)
        self._view.scrolls.connect(self._scroll)
        self._view.on_link.connect(self._show_link)
        card.box.addWidget(self._view)
        self.column.addWidget(card)
        self.column.addStretch(1)
        self._heading_number: int | None = None
        bar = self.verticalScrollBar()
        # The layout takes several turns of the event loop, and is repeated when the text size
        # changes.
        bar.rangeChanged.connect(self._scroll_to_heading)
        bar.actionTriggered.connect(self._stay)

    def set_text_size(self, pixels: int) -> None:
        """Set the size of the text, in pixels."""
        self._view.set_text_size(pixels)

    def show_guide(self, guide: Guide, blocks: Sequence[Block], number: int, words: str) -> None:
        """Show a guide.

        Args:
            number: The number of the heading to scroll to; 0 is the title.
            words: The words of the search, which are marked; "" for none.
        """
        self._view.setAccessibleName(guide.title)
        self._view.show_blocks(blocks)
        marks = marks_in(self._view.toPlainText(), parse(words)) if words.strip() else ()
        self._view.setExtraSelections(marked(self._view, marks))
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)
        self._heading_number = number
        self._scroll_to_heading()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll freely; the page no longer returns to the heading."""
        self._stay()
        super().wheelEvent(event)

    def _scroll(self, key: Qt.Key) -> None:
        self._stay()
        bar = self.verticalScrollBar()
        page = max(_LINE, self.viewport().height() - _LINE)
        steps = {
            Qt.Key.Key_Down: _LINE,
            Qt.Key.Key_Up: -_LINE,
            Qt.Key.Key_PageDown: page,
            Qt.Key.Key_PageUp: -page,
            Qt.Key.Key_Space: page,
            Qt.Key.Key_End: bar.maximum(),
            Qt.Key.Key_Home: -bar.maximum(),
        }
        bar.setValue(bar.value() + steps[key])

    def _scroll_to_heading(self) -> None:
        """Scroll until the heading is at the top; for the title, scroll to the very top."""
        if self._heading_number is not None:
            bar = self.verticalScrollBar()
            top = self._view.mapTo(self.viewport(), QPoint()).y() + self._top_of(
                self._heading_number
            )
            bar.setValue(bar.value() + top - GRID if self._heading_number else 0)

    def _stay(self) -> None:
        self._heading_number = None

    def _top_of(self, number: int) -> int:
        document = self._view.document()
        block, remaining = document.begin(), number
        while block.isValid():
            if block.blockFormat().headingLevel():
                if not remaining:
                    return round(document.documentLayout().blockBoundingRect(block).top())
                remaining -= 1
            block = block.next()
        return 0

    def _show_link(self) -> None:
        """Scroll to the link that the Tab key has reached."""
        self._stay()
        scroll_to(self._view, self._view.cursorRect().top())


class _GuideText(MarkdownView):
    """A text as tall as its content, so that keys scroll the page around it.

    Signals:
        scrolls(key): The user pressed a key of `_SCROLLING`.
        on_link(): The Tab key has reached a link.
    """

    scrolls = Signal(Qt.Key)
    on_link = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = event.modifiers() in {
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        }
        if plain and event.key() in _SCROLLING:
            self.scrolls.emit(Qt.Key(event.key()))
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        has_link = super().focusNextPrevChild(forward)
        if has_link and self.hasFocus():
            self.on_link.emit()
        return has_link
