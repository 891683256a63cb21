"""Finding words in all messages of a chat, also in those that are not live."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.ui.chat.find.find_bar import FindBar
from app.ui.chat.find.highlights import Highlights

if TYPE_CHECKING:
    from app.core.chats.conversation import StoredMessage
    from app.markdown.parser import Parser
    from app.ui.chat.transcript.transcript import Transcript

_TYPING_MS = 120
_TURN_S = 0.008
"""How long one turn of the event loop may count."""


class ChatFind(QObject):
    """Counts a few messages in each turn of the event loop, so that the window never waits."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self.bar = FindBar()
        self._transcript = transcript
        self._highlights = Highlights(transcript)
        self._texts: dict[str, tuple[StoredMessage, str]] = {}
        self._counts: list[tuple[str, int]] = []
        self._counting: Iterator[tuple[str, int]] | None = None
        self._at = -1
        self._pause = _timer(self, _TYPING_MS, self._begin)
        self._turn = _timer(self, 0, self._count)
        self.bar.typed.connect(lambda _: self._pause.start())
        self.bar.step.connect(self.step)
        self.bar.closed.connect(self.close)

    @cached_property
    def _parser(self) -> Parser:
        from app.markdown.parser import Parser

        return Parser()

    def open(self) -> None:
        """Show the bar, if there is anything to find in."""
        if self._transcript.messages:
            self.bar.show()
            self.bar.focus()
            self._begin()

    def close(self) -> None:
        """Hide the bar and what was marked."""
        for timer in (self._pause, self._turn):
            timer.stop()
        self.bar.hide()
        self._texts.clear()
        self._counts, self._at, self._counting = [], -1, None
        self._highlights.clear()

    def escape(self) -> bool:
        """Close the bar if one is in it; False if there was nothing to close."""
        if self.bar.isVisible() and self.bar.has_focus():
            self.close()
            return True
        if not self.bar.isVisible() and self._highlights.are_shown:
            self._highlights.clear()
        return False

    def mark(self, message_id: str, words: str) -> bool:
        """Go to a message that a search found; False if the chat does not show it."""
        from app.core.search.snippets import marks_in
        from app.core.search.words import parse

        terms = parse(words)
        if all(message.id != message_id for message in self._transcript.messages):
            return False
        self.close()
        self._transcript.go_to(message_id)
        self._highlights.show(lambda text: marks_in(text, terms))
        self._highlights.go_to(message_id, 0)
        return True

    def refresh(self) -> None:
        """The messages are others now: count again."""
        if self.bar.isVisible():
            self._pause.start()

    def _begin(self) -> None:
        from app.ui.chat.find.find_texts import occurrences

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
        from app.ui.chat.find.find_texts import occurrences, text_of

        for message in list(self._transcript.messages):
            known = self._texts.get(message.id)
            if known is None or known[0] is not message:
                known = self._texts[message.id] = message, text_of(message, self._parser)
            yield message.id, len(occurrences(known[1], words))

    def _count(self) -> None:
        """Count on for a moment; at the end, go to what is nearest to what one sees."""
        until = time.perf_counter() + _TURN_S
        while self._counting is not None and time.perf_counter() < until:
            one = next(self._counting, None)
            if one is None:
                self._counting = None
                self._go(self._nearest())
                return
            self._counts.append(one)
        self._show_count()
        self._turn.start()

    def step(self, step: int) -> None:
        """Go to the next place (1), or to the one before (-1)."""
        if self._pause.isActive():  # what was typed last is not looked for yet
            self._pause.stop()
            self._begin()
        elif self._sum and self._counting is None:
            self._go((self._at + step) % self._sum)

    def _go(self, at: int) -> None:
        self._at = at
        self._show_count()
        for (message_id, count), end in zip(self._counts, self._ends, strict=True):
            if end > at >= 0:
                self._highlights.go_to(message_id, at - (end - count))
                return

    def _nearest(self) -> int:
        """The first from the message on that is uppermost; from the beginning if none follows."""
        seen = self._transcript.view_around(self._transcript.place.first_seen())
        ids = [message_id for message_id, _ in self._counts]
        shown = seen.message.id if seen is not None else ""
        start = ids.index(shown) if shown in ids else 0
        before = sum(count for _, count in self._counts[:start])
        return before if before < self._sum else min(0, self._sum - 1)

    @property
    def _ends(self) -> list[int]:
        return list(accumulate(count for _, count in self._counts))

    @property
    def _sum(self) -> int:
        return sum(count for _, count in self._counts)

    def _show_count(self) -> None:
        self.bar.show_count(self._at + 1, self._sum, still=self._counting is not None)


def _timer(parent: ChatFind, milliseconds: int, then: Callable[[], None]) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(then)
    return timer
