"""The messages of a chat, of which only those near the visible part have widgets (are live)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLayout, QWidget

from app.chats.transcript.pages.scroll_keeper import ScrollKeeper
from app.kit.look.scale import scaled
from app.kit.look.theme import BAR, COLUMN, GRID
from app.kit.timer import timer
from app.kit.widgets.column_page import ColumnPage
from app.kit.widgets.icon_button import IconButton

if TYPE_CHECKING:
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.transcript.pages.message_view import MessageView
    from app.markdown.parser import Parser


FIRST = 40
MOST = 60
"""The number of live messages in a chat after opening, and the maximum number."""
STEP = 2
"""The number of messages that are added in one turn of the event loop."""

Side = Literal["older", "newer"]


def side_to_grow(
    first: int, end: int, count: int, *, near_top: bool, near_bottom: bool
) -> Side | None:
    """Return the side on which to add live messages; None for neither.

    Messages that are about to become visible come first; then messages are added up to `FIRST`.

    Args:
        first: The index of the first live message.
        end: The index after the last live message.
        count: The number of messages in the chat.
        near_top: Whether the first live message is almost visible.
        near_bottom: Whether the last live message is almost visible.
    """
    if near_top and first > 0:
        return "older"
    if near_bottom and end < count:
        return "newer"
    if end - first >= FIRST:
        return None
    if first > 0:
        return "older"
    return "newer" if end < count else None


def range_around(index: int, count: int) -> tuple[int, int]:
    """Return the first messages to make live when going to a message: that one and some after it.

    Args:
        index: The index of the message.
        count: The number of messages in the chat.

    Returns:
        The index of the first message and the index after the last.
    """
    end = min(count, index + 2 * STEP)
    return max(0, min(index, end - 2 * STEP)), end


_NEAR = 400
"""The distance from the visible part, in pixels, within which messages are live."""


class Transcript(ColumnPage):
    """The messages of a chat.

    The transcript follows the end while the user has scrolled there, and otherwise keeps its
    place.

    Args:
        text_size: The size of the text in pixels.
        so_far: Returns a message with the text written so far; the store has less of a running one.

    Signals:
        link(address): The user clicked a link.
        wanted(view): A text needs pictures, as in `MarkdownView`.
        copied(): The user copied code or the reasoning.
        save(code): The user wants to save a code block as a file.
        showing(view): A message has become live.
    """

    link = Signal(str)
    wanted = Signal(object)
    copied = Signal()
    save = Signal(object)
    showing = Signal(object)

    def __init__(
        self,
        text_size: int,
        so_far: Callable[[StoredMessage], StoredMessage],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("transcript", spacing=0, left=BAR, parent=parent)
        # Not set on the column itself: Qt gives an aligned layout at most its preferred height,
        # which is too little when a narrow window breaks the text into more lines.
        self.across.setAlignment(self.middle, Qt.AlignmentFlag.AlignTop)
        # The column grows at once with its content. The scroll area would take a few turns of the
        # event loop for that, and squeeze the messages until then.
        self.column.setSizeConstraint(QLayout.SizeConstraint.SetMinimumSize)
        self._parser: Parser | None = None
        self._text_size = text_size
        self._wrap = True
        self._so_far = so_far
        self._messages: list[StoredMessage] = []
        self._views: list[MessageView] = []
        self._first = 0
        self.setAccessibleName(self.tr("Messages"))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._newest = IconButton(
            "newest", self.tr("Jump to newest"), "jumpToNewest", look="round", parent=self
        )
        self._newest.clicked.connect(self.jump_to_newest)
        self._newest.hide()
        self._fill = timer(self, 0, self._grow)
        self.scroll_keeper = ScrollKeeper(self, lambda: self._views, lambda: self._shows_end)
        self.scroll_keeper.scrolled.connect(self._scrolled)

    @property
    def messages(self) -> Sequence[StoredMessage]:
        """All messages of the chat, including those that are not live."""
        return self._messages

    @property
    def views(self) -> Sequence[MessageView]:
        """The views of the live messages, from top to bottom."""
        return tuple(self._views)

    def view_around(self, widget: QWidget | None) -> MessageView | None:
        """Return the live message that contains a widget."""
        if widget is None:
            return None
        return next(
            (view for view in self._views if view is widget or view.isAncestorOf(widget)), None
        )

    def show_messages(self, messages: tuple[StoredMessage, ...]) -> None:
        """Show another chat, scrolled to its end."""
        self._messages = list(messages)
        self._show_end()

    def go_to(self, message_id: str) -> MessageView | None:
        """Scroll to a message and return its view; None if it is not in the chat."""
        ids = [message.id for message in self._messages]
        if message_id not in ids:
            return None
        view = self.view_of(message_id)
        if view is None:
            self._show_run(*range_around(ids.index(message_id), len(ids)))
            view = self.view_of(message_id)
        if view is not None:
            self.scroll_keeper.hold(view, 3 * GRID)
        return view

    def show_branch(self, messages: Sequence[StoredMessage], message_id: str) -> None:
        """Show another branch of this chat.

        The messages that both branches share stay in place, so that nothing moves.

        Args:
            messages: The messages of the branch.
            message_id: The message to show at the place where the branches diverge.
        """
        pairs = zip(self._messages, messages, strict=False)
        shared = next(
            (index for index, (old, new) in enumerate(pairs) if old.id != new.id),
            min(len(self._messages), len(messages)),
        )
        fork_index = shared - self._first
        y = (
            self.scroll_keeper.y_of(self._views[fork_index])
            if 0 <= fork_index < len(self._views)
            else 3 * GRID
        )
        self._messages = list(messages)
        while self._views and self._first + len(self._views) > shared:
            self._remove(-1)
        if self._views and self._first + len(self._views) == shared:
            for message in self._messages[shared : shared + 2 * STEP]:
                self._views.append(self._make(message, self.column.count()))
            self._number()
            self._fill.start()
        else:
            self._show_run(*range_around(min(shared, len(messages) - 1), len(messages)))
        view = self.go_to(message_id) or self.last()
        if shared == len(messages):
            self.scroll_keeper.go_to_end()
        elif view is not None:
            self.scroll_keeper.hold(view, y)

    def add(self, message: StoredMessage) -> None:
        """Add a message at the end and scroll to it."""
        at_end = self._shows_end
        self._messages.append(message)
        if not at_end:
            self._show_end()
            return
        self._views.append(self._make(message, self.column.count()))
        while len(self._views) > MOST:
            self._remove(0)
        self._number()
        self.jump_to_newest()

    def replace_from(self, message: StoredMessage) -> None:
        """Show this message in place of all messages after its parent."""
        ids = [known.id for known in self._messages]
        keep = ids.index(message.parent_id) + 1 if message.parent_id in ids else 0
        del self._messages[keep:]
        while self._views and self._first + len(self._views) > keep:
            self._remove(-1)
        self._first = min(self._first, keep)
        self.add(message)

    def view_of(self, message_id: str) -> MessageView | None:
        """Return the view of a message; None if it is not live."""
        return next((view for view in self._views if view.message.id == message_id), None)

    def last(self) -> MessageView | None:
        """Return the view of the newest message; None if it is not live."""
        return self._views[-1] if self._views and self._shows_end else None

    def update_message(self, message: StoredMessage) -> None:
        """Show a message again after it ended, was rated or pinned."""
        self._messages = [message if known.id == message.id else known for known in self._messages]
        view = self.view_of(message.id)
        if view is not None:
            view.update_message(message)

    def refresh_last(self) -> None:
        """Tell each view whether it is the last one, whose footer stays visible."""
        last = self.last()
        for view in self._views:
            view.set_last(view is last)

    def set_text_size(self, pixels: int) -> None:
        """Set the size of the text in pixels."""
        self._text_size = pixels
        for view in self._views:
            view.view.set_text_size(pixels)

    def set_wrap(self, wrap: bool) -> None:
        """Set whether long lines of code are broken."""
        self._wrap = wrap
        for view in self._views:
            view.view.set_wrap(wrap)

    @property
    def free_height(self) -> int:
        """The height below the messages that is empty, in pixels; 0 if they have to be scrolled."""
        if self.verticalScrollBar().maximum() > 0:
            return 0
        below = self.middle.mapTo(self.viewport(), QPoint(0, self.middle.height())).y()
        return max(0, self.viewport().height() - below)

    def jump_to_newest(self) -> None:
        """Scroll to the end of the chat."""
        if not self._shows_end:
            self._show_end()
        self.scroll_keeper.go_to_end()
        self._newest.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place the button that jumps to the newest message."""
        super().resizeEvent(event)
        size = self._newest.sizeHint()
        self._newest.setGeometry(
            (self.width() - size.width()) // 2,
            self.height() - size.height() - GRID,
            size.width(),
            size.height(),
        )

    def _make(self, message: StoredMessage, index: int) -> MessageView:
        from app.chats.transcript.pages.message_view import MessageView
        from app.markdown.parser import Parser

        if self._parser is None:
            self._parser = Parser()
        view = MessageView(self._so_far(message), self._parser, self._text_size, wrap=self._wrap)
        view.link.connect(self.link)
        view.wanted.connect(self.wanted)
        view.copied.connect(self.copied)
        view.save.connect(self.save)
        width = min(scaled(COLUMN), self.viewport().width() - 6 * GRID)
        view.resize(width, view.height())
        self.column.insertWidget(index, view)
        view.show()
        self.showing.emit(view)
        return view

    def _remove(self, index: int) -> None:
        """Remove the view of the first (0) or the last (-1) live message."""
        view = self._views.pop(index)
        self._first += index + 1
        self.scroll_keeper.release(view)
        self.column.removeWidget(view)
        view.hide()
        view.deleteLater()

    @property
    def _shows_end(self) -> bool:
        return self._first + len(self._views) == len(self._messages)

    def _show_end(self) -> None:
        self._show_run(max(0, len(self._messages) - STEP), len(self._messages))
        self.scroll_keeper.go_to_end()
        self._newest.hide()

    def _show_run(self, first: int, end: int) -> None:
        """Make the messages from `first` up to, but not including, `end` the only live ones."""
        self._fill.stop()
        while self._views:
            self._remove(-1)
        self._first = first
        for message in self._messages[first:end]:
            self._views.append(self._make(message, self.column.count()))
        self._number()
        self._fill.start()

    def _number(self) -> None:
        for index, view in enumerate(self._views, start=self._first + 1):
            view.name(index, len(self._messages))
        self.refresh_last()

    def _grow(self) -> None:
        """Add a few live messages where the user scrolls, and continue in the next turn."""
        bar, end = self.verticalScrollBar(), self._first + len(self._views)
        side = side_to_grow(
            self._first,
            end,
            len(self._messages),
            near_top=bar.value() < _NEAR,
            near_bottom=bar.value() > bar.maximum() - _NEAR,
        )
        if side == "older":
            for message in reversed(self._messages[max(0, self._first - STEP) : self._first]):
                self._views.insert(0, self._make(message, 0))
                self._first -= 1
        elif side == "newer":
            for message in self._messages[end : end + STEP]:
                self._views.append(self._make(message, self.column.count()))
        else:
            return
        self._trim(side)
        self._number()
        self.scroll_keeper.settle()
        if len(self._views) < FIRST:
            self._fill.start()

    def _trim(self, grown: Side) -> None:
        """Remove views beyond `MOST` on the other side, if they are far from the visible part."""
        room = self.viewport().height()
        while len(self._views) > MOST:
            index = -1 if grown == "older" else 0
            view = self._views[index]
            y = self.scroll_keeper.y_of(view)
            if y <= room + 2 * _NEAR if index else y + view.height() >= -2 * _NEAR:
                return
            self._remove(index)

    def _scrolled(self) -> None:
        bar = self.verticalScrollBar()
        at_end = self._shows_end and self.scroll_keeper.near_end
        self._newest.setVisible(not at_end)
        if bar.maximum() > 0 and not _NEAR <= bar.value() <= bar.maximum() - _NEAR:
            self._fill.start()
