"""The highlights of words in live messages, and scrolling to one of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtWidgets import QTextEdit

from app.kit.look.theme import theme_of
from app.kit.text.formats import END_OF_RUN, LEFT_TO_RIGHT
from app.kit.text.long_lines import BREAK
from app.kit.timer import timer

if TYPE_CHECKING:
    from app.chats.transcript.pages.message_view import MessageView
    from app.chats.transcript.pages.transcript import Transcript

Matcher = Callable[[str], Sequence[tuple[int, int]]]
"""A function that returns the start and end of each hit in a text, in characters."""

_PAUSE_MS = 120
_FAINT = 0.28
"""The opacity of the accent colour behind hits other than the current one, 0 to 1."""
_NOT_WRITTEN = re.compile(f"[{LEFT_TO_RIGHT}{END_OF_RUN}]|{BREAK}")
"""The isolates around code, and the breaks in a very long line."""
_MOST = 500
"""The maximum number of highlights in one message."""


class Highlights(QObject):
    """The highlights of hits, one of which is the current one."""

    def __init__(self, transcript: Transcript) -> None:
        super().__init__(transcript)
        self._transcript = transcript
        self._matcher: Matcher | None = None
        self._current: tuple[str, int] | None = None
        self._revealed = True
        self._pause = timer(self, _PAUSE_MS, self._mark)
        transcript.showing.connect(self._watch_view)

    @property
    def are_shown(self) -> bool:
        """True if hits are highlighted."""
        return self._matcher is not None

    def show(self, matcher: Matcher) -> None:
        """Highlight all hits of a matcher, also in messages that become live later."""
        self._matcher = matcher
        self._current, self._revealed = None, True
        self._mark()

    def go_to(self, message_id: str, number: int) -> None:
        """Make a hit the current one and scroll to it.

        Args:
            message_id: The message.
            number: The index of the hit in the message, starting at 0.
        """
        self._current, self._revealed = (message_id, number), False
        if self._transcript.view_of(message_id) is None:
            self._transcript.go_to(message_id)
        self._mark()

    def clear(self) -> None:
        """Remove all highlights."""
        self._matcher = self._current = None
        self._revealed = True
        self._mark()

    def _watch_view(self, view: MessageView) -> None:
        view.view.drawn.connect(self._mark_soon)
        self._mark_soon()

    def _mark_soon(self) -> None:
        if self._matcher is not None and not self._pause.isActive():
            self._pause.start()

    def _mark(self) -> None:
        for view in self._transcript.views:
            hits = _places(view.view.toPlainText(), self._matcher) if self._matcher else ()
            current = -1
            if self._current and view.message.id == self._current[0] and hits:
                # The shown text can differ from the counted text, for example in a formula.
                current = min(self._current[1], len(hits) - 1)
            selections = marked(view.view, hits[:_MOST], current)
            view.view.setExtraSelections(selections)
            if current >= 0 and not self._revealed and current < len(selections):
                self._reveal(view, selections[current].cursor)

    def _reveal(self, view: MessageView, cursor: QTextCursor) -> None:
        self._revealed = True
        view.unfold()
        place = QTextCursor(cursor)
        place.setPosition(cursor.selectionStart())
        area = view.view.cursorRect(place)
        top = view.view.viewport().mapTo(view, area.topLeft()).y()
        self._transcript.scroll_keeper.reveal(view, top, area.height())


def _places(text: str, matcher: Matcher) -> Sequence[tuple[int, int]]:
    """Find hits in a text, ignoring the characters in it that the author did not write."""
    if not _NOT_WRITTEN.search(text):
        return matcher(text)
    positions: list[int] = []
    at = 0
    for added in _NOT_WRITTEN.finditer(text):
        positions += range(at, added.start())
        at = added.end()
    positions += range(at, len(text))
    hits = matcher(_NOT_WRITTEN.sub("", text))
    return [(positions[start], positions[end - 1] + 1) for start, end in hits]


def marked(
    edit: QTextEdit, hits: Sequence[tuple[int, int]], current: int = -1
) -> list[QTextEdit.ExtraSelection]:
    """Return the highlights for hits in a text.

    Args:
        edit: The widget that shows the text.
        hits: The start and end of each hit, in characters.
        current: The index of the current hit; -1 for none.
    """
    theme = theme_of(edit.palette())
    text = edit.toPlainText() if hits else ""
    is_plain = text.isascii()
    selections: list[QTextEdit.ExtraSelection] = []
    for number, (start, end) in enumerate(hits):
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(edit.document())
        cursor.setPosition(start if is_plain else _in_qt(text, start))
        cursor.setPosition(end if is_plain else _in_qt(text, end), QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor
        char_format = selection.format
        colour = QColor(theme.accent)
        if number == current:
            char_format.setForeground(QColor(theme.on_accent))
        else:
            colour.setAlphaF(_FAINT)
        char_format.setBackground(colour)
        selection.format = char_format
        selections.append(selection)
    return selections


def _in_qt(text: str, place: int) -> int:
    """Convert a position to Qt's, which counts two for characters such as most emoji."""
    return len(text[:place].encode("utf-16-le")) // 2
