"""The marks of checked quotes in live answers, and their summary under each answer."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from app.chats.citations.pages.words import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.chats.citations.presenters import Citations
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.transcript.pages.message_view import MessageView
    from app.chats.transcript.pages.transcript import Transcript
    from app.documents.citations.values import CheckedAnswer
    from app.kit.notify import Notifier
    from app.markdown.blocks import Block

_PART = "citations"
_TIP_WIDTH = 80
"""The number of characters of a line in a tooltip."""


class CitationMarks(QObject):
    """The check of answers about files, when they become live or end.

    Signals:
        opened(place): The user wants to see the place of a quote or a passage, a `Citation` or a
            `GivenPassage`.
    """

    opened = Signal(object)

    def __init__(
        self, transcript: Transcript, citations: Citations, notifier: Notifier, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._citations = citations
        self._notifier = notifier
        self._window = parent
        self._uncited = False
        self._checked: dict[str, CheckedAnswer] = {}
        transcript.showing.connect(self._watch)

    def _watch(self, view: MessageView) -> None:
        if view.message.role == "assistant":
            view.view.completed.connect(lambda: self._check(view))
            view.view.quote.connect(lambda number: self._open_quote(view.message.id, number))
            self._check(view)

    def _check(self, view: MessageView) -> None:
        """Check an answer if it has ended and there are files in its branch."""
        answer, blocks = view.message, view.view.blocks
        if answer.state == "streaming" or not blocks:
            return
        path = self._path_to(answer)
        if not any(message.attachments or message.sources for message in path):
            return
        from app.markdown.reading import read_text

        text = read_text(blocks)
        checked = self._citations.known(path, text)
        if checked is not None:
            self._show(view, checked)
            return
        self._citations.check(
            path,
            text,
            lambda checked: self._show_checked(answer.id, blocks, checked),
            self._notifier.error,
        )

    def _path_to(self, answer: StoredMessage) -> tuple[StoredMessage, ...]:
        messages = self._transcript.messages
        at = next((at for at, message in enumerate(messages) if message.id == answer.id), -1)
        return tuple(messages[: at + 1])

    def _show_checked(
        self, answer_id: str, blocks: Sequence[Block], checked: CheckedAnswer
    ) -> None:
        if not isValid(self._transcript):
            return  # the scratch chat was closed in the meantime
        view = self._transcript.view_of(answer_id)
        if view is not None and view.view.blocks == blocks:
            self._show(view, checked)  # otherwise it has changed, and is checked again

    def _show(self, view: MessageView, checked: CheckedAnswer) -> None:
        from app.chats.citations.pages.line import CitationLine

        answer_id = view.message.id
        self._checked[answer_id] = checked
        self._mark(view, checked)
        line = CitationLine(checked, shows_uncited=self._uncited)
        line.all.connect(lambda: self._open_card(answer_id))
        line.given.connect(lambda: self._open_passages(answer_id))
        line.uncited.connect(self._show_uncited)
        view.show_part(_PART, line)

    def _mark(self, view: MessageView, checked: CheckedAnswer) -> None:
        from app.markdown.reading import MarkedPart, sentences

        marks = [
            MarkedPart(citation.start, citation.end, citation.verdict, number)
            for number, citation in enumerate(checked.citations, 1)
        ]
        tips = {
            number: fill(verdict(citation, checked), _TIP_WIDTH)
            for number, citation in enumerate(checked.citations, 1)
        }
        if self._uncited:
            quotes = checked.citations
            marks += [
                MarkedPart(start, end, "uncited")
                for start, end in sentences(view.view.blocks)
                if not any(quote.start < end and quote.end > start for quote in quotes)
            ]
        view.view.mark(marks, tips)

    def _show_uncited(self, shown: bool) -> None:
        if shown == self._uncited:
            return
        self._uncited = shown
        from app.chats.citations.pages.line import CitationLine

        for view in self._transcript.views:
            line = view.part(_PART)
            if isinstance(line, CitationLine):
                self._mark(view, self._checked[view.message.id])
                line.show_uncited(shown)

    def _open_card(self, answer_id: str) -> None:
        view = self._transcript.view_of(answer_id)
        anchor = view.part(_PART) if view is not None else None
        if anchor is None:
            return
        from app.chats.citations.pages.card import CitationCard

        card = CitationCard(self._checked[answer_id], self._window)
        card.chosen.connect(lambda number: self._open_quote(answer_id, number))
        card.open_at(anchor)

    def _open_passages(self, answer_id: str) -> None:
        view = self._transcript.view_of(answer_id)
        anchor = view.part(_PART) if view is not None else None
        if anchor is None:
            return
        from app.chats.citations.pages.card import PassageCard

        card = PassageCard(self._checked[answer_id].given, self._window)
        card.chosen.connect(self.opened)
        card.open_at(anchor)

    def _open_quote(self, answer_id: str, number: int) -> None:
        """Show the place of a quote, or if it has none, the list with its verdict."""
        checked = self._checked.get(answer_id)
        if checked is None or not 0 < number <= len(checked.citations):
            return
        citation = checked.citations[number - 1]
        if citation.document:
            self.opened.emit(citation)
        else:
            self._open_card(answer_id)
