"""Decides which tokens of an answer are written without asking the model: pure.

A reasoning budget ends the reasoning after so many tokens with the marker that ends it. An answer
that follows a grammar has its reasoning before it, where the grammar does not hold. An answer that
has to ask for a tool begins, behind its reasoning, with what begins calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from engines.dialect.splitter import Delta, Splitter


class Course:
    """Follows an answer token by token, and knows which token is forced.

    splitter: one of its own. first: tokens that begin the answer. closing: those that end the
    reasoning. budget: most tokens of reasoning, None for no limit. opening: tokens that begin the
    answer behind the reasoning; None leaves its beginning to the model.
    """

    def __init__(
        self,
        splitter: Splitter,
        *,
        first: Iterable[int] = (),
        closing: Sequence[int] = (),
        budget: int | None = None,
        opening: Sequence[int] | None = None,
    ) -> None:
        self._splitter = splitter
        self._forced = deque(first)
        self._closing = closing
        self._budget = budget
        self._opening = opening
        self._spent = 0
        self._force_if_due()

    @property
    def forced(self) -> int | None:
        """The token that has to come next; None leaves it to the model."""
        return self._forced[0] if self._forced else None

    @property
    def answering(self) -> bool:
        """Whether the next token is part of the answer, for which a grammar holds."""
        return not self._forced and not self._splitter.reasoning

    @property
    def opened(self) -> bool:
        """Whether the answer has begun, with its opening."""
        return self.answering and self._opening is None

    def saw(self, text: str) -> list[Delta]:
        """Take note of the next token's text, as splitters take it; returns what it is."""
        within = self._splitter.reasoning
        deltas = self._splitter.feed(text)
        if self._forced:
            self._forced.popleft()
        elif within and self._splitter.reasoning:
            self._spent += 1
        self._force_if_due()
        return deltas

    def _force_if_due(self) -> None:
        due = self._budget is not None and self._spent >= self._budget
        if due and self._splitter.reasoning and not self._forced:
            self._forced.extend(self._closing)
            self._budget = None
        if self._opening is not None and self.answering:
            self._forced.extend(self._opening)
            self._opening = None
