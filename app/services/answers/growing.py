"""An answer while it comes: its text, its reasoning, and how long that took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from app.core.chats.conversation import StoredMessage
from engines.types import Event, ReasoningDelta, TextDelta, WasReasoning


class GrowingAnswer:
    """Takes what an engine says, and what it had said before if it is continued.

    now: seconds on a clock that only goes forward.
    """

    def __init__(self, answer: StoredMessage, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._text = [answer.text]
        self._reasoning = [answer.reasoning]
        self._reasoned_s = answer.reasoning_s
        self._began: float | None = None
        self._text_began: float | None = None

    @property
    def reasoning_s(self) -> float:
        """Up to now, while it still reasons."""
        running = 0.0 if self._began is None else self._now() - self._began
        return self._reasoned_s + running

    def take(self, event: Event) -> None:
        """Events of other kinds change nothing."""
        match event:
            case TextDelta(text):
                self._end_reasoning()
                self._text.append(text)
                if self._text_began is None:
                    self._text_began = self._now()
            case ReasoningDelta(text):
                self._reasoning.append(text)
                if self._began is None:
                    self._began = self._now()
            case WasReasoning():
                self._reasoning += self._text
                self._text.clear()
                if self._text_began is not None:
                    self._reasoned_s += self._now() - self._text_began

    def end(self) -> None:
        """Nothing more comes."""
        self._end_reasoning()

    def onto(self, message: StoredMessage) -> StoredMessage:
        """The message with what there is of the answer."""
        return replace(
            message,
            text="".join(self._text),
            reasoning="".join(self._reasoning),
            reasoning_s=self.reasoning_s,
        )

    def _end_reasoning(self) -> None:
        self._reasoned_s, self._began = self.reasoning_s, None
