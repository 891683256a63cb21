"""The connection from running answers to their messages in the transcript."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.base.language import translated
from app.chats.transcript.pages.wait_words import wait_words
from engines.types import PromptProgress

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.answers.values.answers import Ready
    from app.chats.history.values.conversation import StoredMessage
    from app.chats.transcript.pages.transcript import Transcript
    from app.runtime.values.wait import Wait
    from engines.types import PromptReady

_LONG_PROMPT = 256
"""Prompt tokens whose reading takes long enough to say so before any of them is read."""


class AnswerStream(QObject):
    """The updates of running answers; a message that is not shown is read from the store later."""

    def __init__(
        self, generation: Generation, transcript: Transcript, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._generation = generation
        generation.waits.connect(self._waits)
        generation.loading.connect(self._loading)
        self._servers: dict[str, tuple[str, float]] = {}
        self._read: dict[str, PromptProgress] = {}
        generation.ready.connect(self._ready)
        generation.prompt.connect(self._prompt)
        generation.reading.connect(self._reading)
        generation.text.connect(self._text)
        generation.reasoning.connect(self._reasoning)
        generation.was_reasoning.connect(self._was_reasoning)
        generation.ended.connect(self._ended)
        generation.saved.connect(transcript.update_message)

    def begin(self, answer_id: str, server: str) -> None:
        """Show that an answer was requested.

        Args:
            answer_id: The answer.
            server: The name of the server that writes it; "" for none.
        """
        if server:
            self._servers[answer_id] = server, monotonic()
            self._waits(answer_id, None)

    def show_waiting(self, chat_id: str) -> None:
        """Show again why the chat's answers wait, after its messages were reloaded."""
        for answer_id in self._generation.answering(chat_id):
            self._waits(answer_id, self._generation.waits_for(answer_id))

    def _waits(self, answer_id: str, wait: Wait | None) -> None:
        view = self._transcript.view_of(answer_id)
        if view is None:
            return
        if wait is None and answer_id in self._read:
            view.show_reading(self._read[answer_id])
        elif wait is None and answer_id in self._servers:
            view.show_server(*self._servers[answer_id])
        else:
            view.show_waiting(wait_words(wait) if wait is not None else "")

    def _ready(self, answer_id: str, ready: Ready) -> None:
        """Update the server's name, as the model is known now and can differ from the expected."""
        _, since = self._servers.pop(answer_id, ("", monotonic()))
        if ready.entry.on_server:
            self._servers[answer_id] = ready.entry.server_name, since
        self._waits(answer_id, None)

    def _loading(self, answer_id: str, share: float) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.show_loading(share, translated(self._generation.doing(answer_id)))

    def _prompt(self, answer_id: str, prompt: PromptReady) -> None:
        total, cached = prompt.prompt_tokens, prompt.cached_tokens
        if total - cached >= _LONG_PROMPT:
            self._read[answer_id] = PromptProgress(cached, total)
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.show_prompt(prompt.left_out)
            self._waits(answer_id, None)

    def _reading(self, answer_id: str, progress: PromptProgress) -> None:
        self._read[answer_id] = progress
        self._waits(answer_id, None)

    def _text(self, answer_id: str, text: str) -> None:
        self._read.pop(answer_id, None)
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.append(text)

    def _reasoning(self, answer_id: str, text: str) -> None:
        self._read.pop(answer_id, None)
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.append_reasoning(text)

    def _was_reasoning(self, answer_id: str) -> None:
        view = self._transcript.view_of(answer_id)
        if view is not None:
            view.show_answer(self._generation.so_far(view.message))

    def _ended(self, answer: StoredMessage) -> None:
        self._servers.pop(answer.id, None)
        self._read.pop(answer.id, None)
        self._transcript.update_message(answer)
