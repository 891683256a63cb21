"""Marks in the transcript: messages left out, summarised or pinned, and the summary itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.base.language import translated
from app.kit.widgets.label import Label

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.answers.values.answers import Compaction
    from app.chats.context.values.budget import ContextUse
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.transcript.pages.message_mark import ContextMark
    from app.chats.transcript.pages.message_view import MessageView
    from app.chats.transcript.pages.transcript import Transcript


class ContextMarks(QObject):
    """Puts marks on messages when their views are created, and updates only those that changed.

    Signals:
        forget(message_id): The user wants to remove the summary attached to this message.
    """

    forget = Signal(str)

    def __init__(
        self, transcript: Transcript, generation: Generation, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._marks: dict[str, ContextMark] = {}
        self._use: ContextUse | None = None
        self._failures: dict[str, str] = {}
        transcript.showing.connect(self._show_marks_on)
        generation.ended.connect(self._ended)
        generation.compacting.connect(self._compacting)

    def show_use(self, use: ContextUse | None) -> None:
        """Update the marks and the summary to a new use of the context."""
        old_marks, self._marks = self._marks, marks_of(use)
        for message_id in old_marks.keys() | self._marks.keys():
            if old_marks.get(message_id) != self._marks.get(message_id):
                view = self._transcript.view_of(message_id)
                if view is not None:
                    self._mark(view)
        old_use, self._use = self._use, use
        summary = use.summary if use else None
        if (old_use.summary if old_use else None) != summary:
            for shown_summary in (old_use.summary if old_use else None, summary):
                view = self._transcript.view_of(shown_summary.message_id) if shown_summary else None
                if view is not None:
                    self._fold(view)

    def _show_marks_on(self, view: MessageView) -> None:
        if view.message.id in self._marks:
            self._mark(view)
        self._fold(view)
        self._show_failure(view)

    def _mark(self, view: MessageView) -> None:
        from app.chats.transcript.pages.message_mark import MessageMark

        mark = self._marks.get(view.message.id)
        right = view.message.role == "user"
        view.show_part("mark", MessageMark(mark, right=right) if mark else None, above=True)

    def _fold(self, view: MessageView) -> None:
        use, fold, message_id = self._use, None, view.message.id
        if use is not None and use.summary is not None and use.summary.message_id == message_id:
            from app.chats.transcript.pages.summary_fold import SummaryFold

            fold = SummaryFold(use.summary, len(use.summed))
            fold.forget.connect(lambda: self.forget.emit(message_id))
        view.show_part("summary", fold)

    def _compacting(self, answer_id: str, compaction: Compaction) -> None:
        view = self._transcript.view_of(answer_id)
        if view is None:
            return
        from app.chats.transcript.pages.progress_line import ProgressLine

        line = view.findChild(ProgressLine)
        if compaction.state == "begun" and line is not None:
            line.show_text(
                self.tr("Summarising the {messages} oldest messages").format(
                    messages=compaction.messages
                )
            )
        elif line is not None:
            line.wait()
        if compaction.state == "failed":
            self._failures[answer_id] = translated(compaction.why)
            self._show_failure(view)

    def _ended(self, answer: StoredMessage) -> None:
        """Show the marks again, as the answer's view was filled anew."""
        view = self._transcript.view_of(answer.id)
        if view is not None:
            self._show_marks_on(view)

    def _show_failure(self, view: MessageView) -> None:
        why = self._failures.get(view.message.id)
        if why is not None:
            words = self.tr("The oldest messages could not be summarised and are left out. {why}")
            note = Label(words.format(why=why), "caution", name="notSummedUp", wrap=True)
            view.show_part("notSummedUp", note, above=True)


def marks_of(use: ContextUse | None) -> dict[str, ContextMark]:
    """Return the marks by message id."""
    if use is None:
        return {}
    marks: dict[str, ContextMark] = {part.id: "summed" for part in use.summed}
    for part in use.parts:
        if part.place == "message" and (part.left or part.pinned):
            marks[part.id] = "left" if part.left else "pinned"
    return marks
