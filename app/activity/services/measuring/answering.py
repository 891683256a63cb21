"""Asks a model for the answers that are measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.activity.values.bench_results import Run
from engines.types import ChatRequest, Done, Message, MtpMode, ReasoningDelta, Sampling, TextDelta

if TYPE_CHECKING:
    from app.runtime.services.lease import Lease
    from engines.cancel import CancelToken

_MOST_ANSWERS: Final = 8
"""The largest number of answers to one prompt in a row, if they are short."""


@dataclass(frozen=True)
class Answered:
    """One answer.

    Attributes:
        whole: The text with the reasoning before it.
    """

    done: Done
    text: str
    whole: str

    @property
    def tokens(self) -> int:
        """The number of tokens that the model wrote."""
        return self.done.usage.completion_tokens


def greedy(text: str, mode: MtpMode, tokens: int) -> ChatRequest:
    """Return a greedy request, so that every mode writes the same text."""
    sampling = Sampling(temperature=0.0)
    return ChatRequest((Message("user", text),), sampling, max_tokens=tokens, mtp=mode)


def answer(model: Lease, text: str, mode: MtpMode, tokens: int, cancel: CancelToken) -> Answered:
    """Answer a prompt greedily, with at most so many tokens."""
    pieces: list[str] = []
    whole: list[str] = []
    done: Done | None = None
    for event in model.chat(greedy(text, mode, tokens), cancel):
        if isinstance(event, TextDelta | ReasoningDelta):
            whole.append(event.text)
        if isinstance(event, TextDelta):
            pieces.append(event.text)
        elif isinstance(event, Done):
            done = event
    if done is None:
        raise RuntimeError("the engine ended an answer without Done")
    return Answered(done, "".join(pieces), "".join(whole))


def answers(model: Lease, text: str, mode: MtpMode, tokens: int, cancel: CancelToken) -> Run:
    """Answer until there are `tokens` in all, as a short answer says little about the speed."""
    found: list[Answered] = []
    while len(found) < _MOST_ANSWERS and not cancel.cancelled:
        found.append(answer(model, text, mode, tokens, cancel))
        if sum(it.tokens for it in found) >= tokens:
            break
    texts = dict.fromkeys(it.text for it in found)
    return Run(tuple(it.done for it in found), "\n".join(texts))
