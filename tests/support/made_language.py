"""The made models' language: which tokens may follow which, and matrices that say so.

A model whose residual stream holds little but the embedding of the current token is a Markov chain:
the row of the output matrix for a token is the sum of the embeddings of those that it may follow,
so each token has a few followers with near logits. What the layers add decides between them: mostly
the token before (see made_look_back), which a head can know from the hidden state, and a little
the whole context, which it cannot. So it guesses right mostly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.support.made_gguf import NORMAL, Floats, Tokens

FOLLOWERS = 3
"""Tokens that may come after a token."""

_SPREAD = 1.4
"""Standard deviation of the logits of tokens that do not follow the current one."""

_GAP = 2.4
"""Between the logits of a token's first follower and its second, and so on."""

SEEN = slice(1, 33)
"""Columns of a token's embedding that the choice after the next token depends on."""

_NEVER = -40.0
"""Logit of control tokens and bytes: an answer is text and has no end of its own."""

_BIAS = 4.0
"""Large, so that no layer turns its sign."""


@dataclass(frozen=True)
class Language:
    """embedding: a row of mean square 1 per token; only the first `rank` columns are not zero.

    output: makes logits of a residual stream of mean square 1. The first column of the embedding
    is the same for all tokens: it carries the bias of the output matrix. memory: what a token
    leaves behind for the next one's choice of followers (see made_look_back).
    """

    embedding: Floats
    output: Floats
    memory: Floats
    rank: int

    def truncated(self) -> Floats:
        """The output matrix for a stream of `rank` numbers, of mean square 1 too."""
        scale = (self.output.shape[1] / self.rank) ** 0.5
        return np.asarray(self.output[:, : self.rank] * np.float32(scale))


def make_language(tokens: Tokens, width: int, rank: int | None = None, seed: int = 2) -> Language:
    """The same for the same arguments. `rank`: as many columns as a drafter can see."""
    random = np.random.default_rng(seed)
    rank = rank or width
    unit = (width / rank) ** 0.5
    embedding = np.zeros((tokens.count, width), np.float32)
    embedding[:, :rank] = random.standard_normal((tokens.count, rank), np.float32) * unit
    embedding[:, 0] = _BIAS
    text = np.flatnonzero(tokens.types == NORMAL)
    output = np.zeros_like(embedding)
    for choice in range(FOLLOWERS):
        # One round through all of the text, so that no chain of followers is short.
        round_trip = random.permutation(text)
        follower = random.choice(text, tokens.count).astype(np.int64)
        follower[round_trip] = np.roll(round_trip, -1)
        logit = _SPREAD * rank**0.5 - _GAP * choice
        _add_rows(output, follower, embedding, logit / width)
    output[:, 0] = 0
    others = tokens.types != NORMAL
    output[others] = 0
    output[others, 0] = _NEVER / _BIAS
    seen = SEEN.stop - SEEN.start
    memory = random.standard_normal((width, seen), np.float32) / np.float32(seen**0.5)
    memory[: SEEN.stop] = 0  # what is handed on stays as it is
    return Language(embedding, output, memory, rank)


def _add_rows(target: Floats, at: NDArray[np.int64], rows: Floats, scale: float) -> None:
    """In portions: a vocabulary of 32,000 tokens would need a second copy of its matrix."""
    for start in range(0, len(at), 4096):
        part = slice(start, start + 4096)
        np.add.at(target, at[part], rows[part] * np.float32(scale))
