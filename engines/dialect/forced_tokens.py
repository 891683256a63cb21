"""The choice of an answer's tokens that are forced instead of sampled; pure.

A reasoning budget ends the reasoning after that many tokens with the marker that closes it. If an
answer must follow a grammar, its reasoning comes first, and the grammar does not apply to it. If an
answer has to call a tool, it begins, after its reasoning, with the marker that begins calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from engines.dialect.splitter import Delta, Splitter


class ForcedTokens:
    """Follows an answer token by token, and knows the next token that is forced.

    Args:
        splitter: A splitter for this answer alone.
        first: Tokens that begin the answer.
        closing: Tokens that end the reasoning.
        budget: Most tokens of reasoning; None for no limit.
        opening: Tokens that begin the answer after the reasoning; None leaves its beginning to the
            model.
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
        """True if the next token is part of the answer, to which a grammar applies."""
        return not self._forced and not self._splitter.reasoning

    @property
    def opened(self) -> bool:
        """True if the answer has begun, including its opening."""
        return self.answering and self._opening is None

    def feed(self, text: str) -> list[Delta]:
        """Take the next token's text, as splitters do; return the deltas that it completes."""
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
