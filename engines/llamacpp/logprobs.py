"""Tells how likely the model held each token of an answer, and which it held likelier."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engines.dialect.splitter import Splitter
from engines.llamacpp.context import Context
from engines.llamacpp.logits import Logits
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native
from engines.llamacpp.sampling import Sampler
from engines.types import TextDelta, TokenLogprob


class LogprobSampler:
    """A sampler that notes the probability of each token it draws; owns the one that draws.

    Probabilities are of the model's own logits, before penalties, temperature and grammar.
    count: how many of the likeliest tokens are noted with it.
    """

    def __init__(self, native: Native, model: Model, sampler: Sampler, count: int) -> None:
        self._sampler = sampler
        self._vocabulary = model.vocabulary
        self._logits = Logits(native.api, model.vocabulary.size)
        self._count = min(count, model.vocabulary.size)
        self._noted: deque[TokenLogprob] = deque()

    def draw(self, context: Context, row: int = -1) -> int:
        token = self._sampler.draw(context, row)
        self._noted.append(self._judge(context, row, token))
        return token

    def take(self, token: int) -> None:
        self._sampler.take(token)

    def guide(self, *, on: bool) -> None:
        self._sampler.guide(on=on)

    def close(self) -> None:
        self._sampler.close()

    def next_noted(self) -> TokenLogprob:
        """Return what was noted of the next token, in the order in which they were drawn."""
        return self._noted.popleft()

    def _judge(self, context: Context, row: int, token: int) -> TokenLogprob:
        import numpy as np

        logits = self._logits.row(context.pointer, row).astype(np.float64)
        highest = logits.max()
        whole = float(highest + np.log(np.exp(logits - highest).sum()))
        likeliest = np.argpartition(-logits, self._count - 1)[: self._count] if self._count else ()
        ordered = sorted(map(int, likeliest), key=lambda it: -logits[it])
        told = tuple(self._told(it, float(logits[it]) - whole) for it in ordered)
        return replace(self._told(token, float(logits[token]) - whole), likeliest=told)

    def _told(self, token: int, logprob: float) -> TokenLogprob:
        raw = self._vocabulary.shown(token)
        return TokenLogprob(token, raw.decode(errors="replace"), raw, logprob)


class AttachedLogprobs:
    """Goes through an answer's events, and adds to each text the tokens that ended in it.

    Tokens of reasoning, of calls and of what a stop string cut off have no text to belong to.
    """

    def __init__(self, sampler: LogprobSampler, splitter: Splitter) -> None:
        self._sampler = sampler
        self._splitter = splitter
        self._waiting: list[TokenLogprob] = []

    def take(self) -> None:
        """Take note that a token was read; it belongs to the next text, outside of reasoning."""
        noted = self._sampler.next_noted()
        if self._splitter.reasoning:
            self._waiting.clear()
        else:
            self._waiting.append(noted)

    def attached(self, events: Sequence[Any]) -> list[Any]:
        """Return the events, with the tokens that waited at the last text among them."""
        told = list(events)
        places = [at for at, event in enumerate(told) if isinstance(event, TextDelta)]
        if places:
            told[places[-1]] = replace(told[places[-1]], logprobs=tuple(self._waiting))
        if told:
            self._waiting.clear()
        return told
