"""The search for words in all messages of a chat, including those that are not live."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.chats.find.pages.highlights import Highlights
from app.chats.history.values.conversation import StoredMessage
from app.kit.look.format import figure
from app.kit.timer import timer
from app.kit.widgets.enter import ENTER
from app.kit.widgets.fields import LineField
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.leading_picture import LeadingPicture
from app.kit.widgets.panel import Panel
from app.markdown.blocks import Block, Code, Formula, Paragraph, Span, Table
from app.search.folding import fold, fold_each

if TYPE_CHECKING:
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.transcript.pages.transcript import Transcript
    from app.markdown.parser import Parser


class FindBar(Panel):
    """The bar with the search field.

    Signals:
        typed(words): The user changed the words.
        step(by): The user wants the next (1) or the previous (-1) hit.
        closed(): The user closed the bar.
    """

    typed = Signal(str)
    step = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "findBar", "findBar", across=True, margins=(2, 1, 1.5, 1), spacing=0.5, parent=parent
        )
        self._edit = LineField(
            "findWords",
            self.tr("Find in this chat"),
            hint=self.tr("Find in this chat"),
            clears=True,
        )
        self._edit.setMaximumWidth(420)
        self._edit.textChanged.connect(self.typed)
        LeadingPicture("search", self._edit)
        self._count = Label("", "small", name="findCount")
        self._count.setMinimumWidth(80)
        self._count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        above = IconButton("above", self.tr("Previous"), "findPrevious", size=18)
        above.clicked.connect(lambda: self.step.emit(-1))
        below = IconButton("down", self.tr("Next"), "findNext", size=18)
        below.clicked.connect(lambda: self.step.emit(1))
        close = IconButton("close", self.tr("Close the search"), "findClose", size=16)
        close.clicked.connect(self.closed)
        self._steps = (above, below)
        self.box.addStretch(1)
        self.box.addWidget(self._edit, 3)
        self.box.addWidget(self._count)
        self._buttons = (above, below, close)
        for button in self._buttons:
            self.box.addWidget(button)
        self.show_count(0, 0, is_counting=False)
        self.hide()

    @property
    def words(self) -> str:
        """The words in the search field."""
        return self._edit.text()

    def focus(self) -> None:
        """Focus the search field and select its text."""
        self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._edit.selectAll()

    def has_focus(self) -> bool:
        """Return whether the search field or a button of the bar has the focus."""
        return self._edit.hasFocus() or any(button.hasFocus() for button in self._buttons)

    def show_count(self, number: int, count: int, *, is_counting: bool) -> None:
        """Show the number of hits.

        Args:
            number: The current hit, starting at 1; 0 for none yet.
            count: The number of hits so far.
            is_counting: Whether the count is still running.
        """
        if not self.words.strip():
            words = ""
        elif count and not number:
            words = self.tr("Found: {count}").format(count=figure(count))
        elif count:
            words = self.tr("{number} of {count}").format(
                number=figure(number), count=figure(count)
            )
        else:
            words = "" if is_counting else self.tr("Not found")
        self._count.setText(words)
        self._count.setAccessibleName(words)
        for button in self._steps:
            button.setEnabled(count > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next hit on Enter, and to the previous one on Shift+Enter."""
        if event.key() in ENTER and self._edit.hasFocus():
            backwards = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.step.emit(-1 if backwards else 1)
        else:
            super().keyPressEvent(event)


Hits = tuple[tuple[int, int], ...]
"""The start and end of each hit in a text, in characters, in order."""


def text_of(message: StoredMessage, parser: Parser) -> str:
    """Return the text of a message without markdown; the user's messages are not markdown."""
    if message.role == "user":
        return message.text
    return "\n".join(_text(block) for block in parser.parse(message.text))


def occurrences(text: str, words: str) -> Hits:
    """Find words, ignoring case and accents; hits do not overlap."""
    needle = fold(words).strip()
    if not needle:
        return _exactly(text, words.strip())
    if needle not in fold(text):
        return ()
    folded, places = fold_each(text)
    hits: list[tuple[int, int]] = []
    at = folded.find(needle)
    while at >= 0:
        end = at + len(needle)
        hits.append((places[at], places[end - 1] + 1))
        at = folded.find(needle, end)
    return tuple(hits)


def _exactly(text: str, words: str) -> Hits:
    """Find words exactly: those of symbols only, such as an arrow, which `fold` removes."""
    hits: list[tuple[int, int]] = []
    at = text.find(words) if words else -1
    while at >= 0:
        hits.append((at, at + len(words)))
        at = text.find(words, at + len(words))
    return tuple(hits)


def _text(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _joined(block.spans)
    if isinstance(block, Code | Formula):
        return block.text
    if isinstance(block, Table):
        return "\n".join(_joined(cell) for row in block.rows for cell in row)
    return ""


def _joined(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)


_TYPING_MS = 120
_TURN_S = 0.008
"""The maximum time for counting in one turn of the event loop, in seconds."""


class ChatFind(QObject):
    """The search within a chat.

    It counts the hits of a few messages in each turn of the event loop, so as not to block the
    window.
    """

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self.bar = FindBar()
        self._transcript = transcript
        self._highlights = Highlights(transcript)
        self._texts: dict[str, tuple[StoredMessage, str]] = {}
        self._counts: list[tuple[str, int]] = []
        self._counting: Iterator[tuple[str, int]] | None = None
        self._at = -1
        self._pause = timer(self, _TYPING_MS, self._begin)
        self._turn = timer(self, 0, self._count)
        self.bar.typed.connect(lambda _: self._pause.start())
        self.bar.step.connect(self.step)
        self.bar.closed.connect(self.close)

    @cached_property
    def _parser(self) -> Parser:
        from app.markdown.parser import Parser

        return Parser()

    def open(self) -> None:
        """Show the bar, if the chat has messages."""
        if self._transcript.messages:
            self.bar.show()
            self.bar.focus()
            self._begin()

    def close(self) -> None:
        """Hide the bar and remove the marks."""
        for clock in (self._pause, self._turn):
            clock.stop()
        self.bar.hide()
        self._texts.clear()
        self._counts, self._at, self._counting = [], -1, None
        self._highlights.clear()

    def escape(self) -> bool:
        """Close the bar if it has the focus; return whether it was closed."""
        if self.bar.isVisible() and self.bar.has_focus():
            self.close()
            return True
        if not self.bar.isVisible() and self._highlights.are_shown:
            self._highlights.clear()
        return False

    def mark(self, message_id: str, words: str) -> bool:
        """Go to a message that the search over all chats found, and mark the words in it.

        Returns:
            False if the message is not in the branch that is shown.
        """
        from app.chats.search.values.snippets import marks_in
        from app.search.words import parse

        terms = parse(words)
        if all(message.id != message_id for message in self._transcript.messages):
            return False
        self.close()
        self._transcript.go_to(message_id)
        self._highlights.show(lambda text: marks_in(text, terms))
        self._highlights.go_to(message_id, 0)
        return True

    def refresh(self) -> None:
        """Count again after the messages have changed."""
        if self.bar.isVisible():
            self._pause.start()

    def _begin(self) -> None:
        words = self.bar.words
        self._counts, self._at = [], -1
        self._counting = None
        self._turn.stop()
        if words.strip():
            self._highlights.show(lambda text: occurrences(text, words))
            self._counting = self._each(words)
            self._turn.start()
        else:
            self._highlights.clear()
        self._show_count()

    def _each(self, words: str) -> Iterator[tuple[str, int]]:
        for message in list(self._transcript.messages):
            cached = self._texts.get(message.id)
            if cached is None or cached[0] is not message:
                cached = self._texts[message.id] = message, text_of(message, self._parser)
            yield message.id, len(occurrences(cached[1], words))

    def _count(self) -> None:
        """Count for a moment; at the end, go to the nearest hit unless the user went to one."""
        until = time.perf_counter() + _TURN_S
        while self._counting is not None and time.perf_counter() < until:
            counted = next(self._counting, None)
            if counted is None:
                self._counting = None
                self._go(self._nearest() if self._at < 0 else self._at)
                return
            self._counts.append(counted)
        self._show_count()
        self._turn.start()

    def step(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) hit."""
        if self._pause.isActive():  # the last words are not searched yet
            self._pause.stop()
            self._begin()
        elif self._total:
            self._go(self._nearest() if self._at < 0 else (self._at + step) % self._total)

    def _go(self, at: int) -> None:
        self._at = at
        self._show_count()
        for (message_id, count), end in zip(self._counts, self._running_totals, strict=True):
            if end > at >= 0:
                self._highlights.go_to(message_id, at - (end - count))
                return

    def _nearest(self) -> int:
        """Return the index of the first hit from the uppermost visible message on.

        Returns:
            0 if there is no hit from that message on; -1 if there are no hits at all.
        """
        first_view = self._transcript.view_around(self._transcript.scroll_keeper.first_visible())
        ids = [message_id for message_id, _ in self._counts]
        first_id = first_view.message.id if first_view is not None else ""
        start = ids.index(first_id) if first_id in ids else 0
        before = sum(count for _, count in self._counts[:start])
        return before if before < self._total else min(0, self._total - 1)

    @property
    def _running_totals(self) -> list[int]:
        return list(accumulate(count for _, count in self._counts))

    @property
    def _total(self) -> int:
        return sum(count for _, count in self._counts)

    def _show_count(self) -> None:
        self.bar.show_count(self._at + 1, self._total, is_counting=self._counting is not None)
