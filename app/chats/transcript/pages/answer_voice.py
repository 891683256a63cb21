"""Announcements of the visible answer to screen readers: each new sentence, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.base.language import in_full
from app.chats.answers.values.sentences import SentenceSplitter, Spoken
from app.kit.announcing import announce

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.transcript.pages.transcript import Transcript
    from app.runtime.values.wait import Wait


class AnswerVoice(QObject):
    """Announcements of running answers.

    It announces nothing of a hidden chat, of older text, or of the reasoning.
    """

    def __init__(
        self, generation: Generation, transcript: Transcript, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._splitters: dict[str, SentenceSplitter] = {}
        self._waiting_for: dict[str, str] = {}
        self._on = True
        generation.begun.connect(lambda answer: self._splitters.pop(answer.id, None))
        generation.loading.connect(
            lambda answer_id, _: self._wait(answer_id, self.tr("The model is being loaded."))
        )
        generation.waits.connect(self._waits)
        generation.reasoning.connect(
            lambda answer_id, _: self._wait(answer_id, self.tr("The model is thinking."))
        )
        generation.text.connect(self._add_text)
        generation.was_reasoning.connect(lambda answer_id: self._splitters.pop(answer_id, None))
        generation.ended.connect(self._ended)

    def turn(self, on: bool) -> None:
        """Turn announcements on or off."""
        self._on = on

    def _waits(self, answer_id: str, wait: Wait | None) -> None:
        if wait is not None:
            self._wait(answer_id, self.tr("The answer waits for its turn."))

    def _wait(self, answer_id: str, words: str) -> None:
        """Announce once why the answer waits, but not after its text has begun."""
        if answer_id not in self._splitters and self._waiting_for.get(answer_id) != words:
            self._waiting_for[answer_id] = words
            self._say(answer_id, words)

    def _add_text(self, answer_id: str, text: str) -> None:
        splitter = self._splitters.setdefault(answer_id, SentenceSplitter())
        self._read(answer_id, splitter.feed(text))

    def _ended(self, answer: StoredMessage) -> None:
        splitter = self._splitters.pop(answer.id, None)
        self._waiting_for.pop(answer.id, None)
        if splitter is not None:
            self._read(answer.id, splitter.end())
        failure = answer.failure
        if answer.state == "failed" and failure is not None:
            self._say(answer.id, in_full(failure), urgent=True)
        elif answer.repeats:
            self._say(answer.id, self.tr("This answer repeated itself and was ended."))
        elif answer.state == "stopped":
            self._say(answer.id, self.tr("The answer was stopped."))
        elif answer.state == "complete":
            self._say(answer.id, self.tr("The answer is complete."))

    def _read(self, answer_id: str, spoken: Sequence[Spoken]) -> None:
        words = " ".join(self._words(part) for part in spoken)
        self._say(answer_id, words)

    def _words(self, spoken: Spoken) -> str:
        if not spoken.is_code:
            return spoken.text
        return (
            self.tr("Code, {text}.").format(text=spoken.text) if spoken.text else self.tr("Code.")
        )

    def _say(self, answer_id: str, words: str, *, urgent: bool = False) -> None:
        if self._on and self._transcript.isVisible() and self._transcript.view_of(answer_id):
            announce(self._transcript, words, urgent=urgent)
