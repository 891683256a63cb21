"""The probabilities of an answer's or prompt's tokens, and of the likeliest tokens."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engines.dialect.splitter import Splitter
from engines.llamacpp.context import Context
from engines.llamacpp.logits import Logits
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native
from engines.llamacpp.sampling import Sampler
from engines.llamacpp.vocabulary import Vocabulary
from engines.types import TextDelta, TokenLogprob

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class LogprobSampler:
    """A sampler that notes the probability of each token it draws.

    It owns the sampler that draws. The probabilities come from the model's own logits, before
    penalties, temperature and grammar.

    Args:
        native: The llama.cpp library.
        model: The model.
        sampler: The sampler that draws.
        count: Number of the likeliest tokens to note with each token.
    """

    def __init__(self, native: Native, model: Model, sampler: Sampler, count: int) -> None:
        self._sampler = sampler
        self._vocabulary = model.vocabulary
        self._logits = Logits(native.api, model.vocabulary.size)
        self._count = min(count, model.vocabulary.size)
        self._noted: deque[TokenLogprob] = deque()

    def draw(self, context: Context, row: int = -1) -> int:
        """Draw the next token, and note its probability."""
        token = self._sampler.draw(context, row)
        self._noted.append(self._judge(context, row, token))
        return token

    def take(self, token: int) -> None:
        """Note a token that was not drawn but forced; its probability is not noted."""
        self._sampler.take(token)

    def guide(self, *, on: bool) -> None:
        """Turn the grammar on or off for the next tokens."""
        self._sampler.guide(on=on)

    def close(self) -> None:
        """Close the sampler that draws."""
        self._sampler.close()

    def next_noted(self) -> TokenLogprob:
        """Return the note of the next token, in the order in which the tokens were drawn."""
        return self._noted.popleft()

    def _judge(self, context: Context, row: int, token: int) -> TokenLogprob:
        return _logprob_of(
            self._vocabulary, self._logits.row(context.pointer, row), token, self._count
        )


class PromptJudge:
    """Notes the probability that the model gave to each token of a prompt.

    Args:
        native: The llama.cpp library.
        vocabulary: The model's vocabulary.
        prompt: The whole prompt.
        count: Number of the likeliest tokens to note with each token.
    """

    def __init__(
        self, native: Native, vocabulary: Vocabulary, prompt: Sequence[int], count: int
    ) -> None:
        self._vocabulary = vocabulary
        self._logits = Logits(native.api, vocabulary.size)
        self._prompt = prompt
        self._count = min(count, vocabulary.size)
        self._noted: dict[int, TokenLogprob] = {}

    def judge(self, context: Context, first_row: int, start: int, count: int) -> None:
        """Read the logits of an evaluation that had `count` tokens from index `start` on."""
        for at in range(count):
            place = start + at + 1
            if place < len(self._prompt):
                logits = self._logits.row(context.pointer, first_row + at)
                token = self._prompt[place]
                self._noted[place] = _logprob_of(self._vocabulary, logits, token, self._count)

    def noted(self, first: int) -> tuple[TokenLogprob, ...]:
        """Return the tokens from index `first` on; the first has a text, but no probability."""
        raw = self._vocabulary.display_bytes(self._prompt[first])
        begun = TokenLogprob(self._prompt[first], raw.decode(errors="replace"), raw, math.nan)
        return (begun, *(self._noted[at] for at in range(first + 1, len(self._prompt))))


def _logprob_of(
    vocabulary: Vocabulary, row: npt.NDArray[np.float32], token: int, count: int
) -> TokenLogprob:
    """Return a token's log probability from a row of logits, with the `count` likeliest tokens."""
    import numpy as np

    logits = row.astype(np.float64)
    highest = logits.max()
    whole = float(highest + np.log(np.exp(logits - highest).sum()))
    likeliest = np.argpartition(-logits, count - 1)[:count] if count else ()
    ordered = sorted(map(int, likeliest), key=lambda number: -logits[number])

    def one(number: int, alternatives: tuple[TokenLogprob, ...] = ()) -> TokenLogprob:
        raw = vocabulary.display_bytes(number)
        text = raw.decode(errors="replace")
        return TokenLogprob(number, text, raw, float(logits[number]) - whole, alternatives)

    return one(token, tuple(map(one, ordered)))


class AttachedLogprobs:
    """Adds to each text among an answer's events the tokens that ended in it.

    Tokens of reasoning, of calls and of text cut off by a stop string belong to no text.
    """

    def __init__(self, sampler: LogprobSampler, splitter: Splitter) -> None:
        self._sampler = sampler
        self._splitter = splitter
        self._waiting: list[TokenLogprob] = []

    def take(self) -> None:
        """Note that a token was read; outside of reasoning, it belongs to the next text."""
        noted = self._sampler.next_noted()
        if self._splitter.reasoning:
            self._waiting.clear()
        else:
            self._waiting.append(noted)

    def attached(self, events: Sequence[Any]) -> list[Any]:
        """Return the events, with the waiting tokens attached to the last text among them."""
        with_logprobs = list(events)
        places = [at for at, event in enumerate(with_logprobs) if isinstance(event, TextDelta)]
        if places:
            with_logprobs[places[-1]] = replace(
                with_logprobs[places[-1]], logprobs=tuple(self._waiting)
            )
        if with_logprobs:
            self._waiting.clear()
        return with_logprobs
