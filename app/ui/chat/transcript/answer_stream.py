"""Brings the text of an answer that is being written to its message in the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.ui.chat.transcript.wait_words import wait_words
from app.ui.look.language import translated

if TYPE_CHECKING:
    from app.core.chats.conversation import StoredMessage
    from app.core.engines.wait import Wait
    from app.presenters.generation import Generation
    from app.ui.chat.transcript.transcript import Transcript
    from engines.types import PromptReady


class AnswerStream(QObject):
    """Shows running answers; a message that is not shown is read from the store later."""

    def __init__(
        self, generation: Generation, transcript: Transcript, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._generation = generation
        generation.waits.connect(self._waits)
        generation.loading.connect(self._loading)
        generation.ready.connect(lambda answer_id, _: self._waits(answer_id, None))
        generation.prompt.connect(self._prompt)
        generation.text.connect(self._text)
        generation.reasoning.connect(self._reasoning)
        generation.was_reasoning.connect(self._was_reasoning)
        generation.ended.connect(self._ended)

    def show_waiting(self, chat_id: str) -> None:
        """Show again what the chat's answers wait for, after its messages were read again."""
        for answer_id in self._generation.answering(chat_id):
            wait = self._generation.waits_for(answer_id)
            if wait is not None:
                self._waits(answer_id, wait)

    def _waits(self, answer_id: str, wait: Wait | None) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.show_waiting(wait_words(wait) if wait is not None else "")

    def _loading(self, answer_id: str, share: float) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.show_loading(share, translated(self._generation.doing(answer_id)))

    def _prompt(self, answer_id: str, prompt: PromptReady) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.show_prompt(prompt.left_out)

    def _text(self, answer_id: str, text: str) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.append(text)

    def _reasoning(self, answer_id: str, text: str) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.append_reasoning(text)

    def _was_reasoning(self, answer_id: str) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.show_answer(self._generation.so_far(view.message))

    def _ended(self, answer: StoredMessage) -> None:
        self._transcript.renew(answer)
