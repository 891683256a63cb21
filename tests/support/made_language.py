"""The language of the made models: which tokens may follow which, and the matrices for it.

A model whose residual stream holds little but the embedding of the current token is a Markov chain:
the row of the output matrix for a token is the sum of the embeddings of those that it may follow,
so each token has a few followers with near logits. The additions of the layers decide between them:
mostly the token before (see made_look_back), which a head can know from the hidden state, and a
little the whole context, which it cannot know. So most of its guesses are right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.support.made_gguf import NORMAL, Floats, Tokens

FOLLOWERS = 3
"""The number of tokens that may come after a token."""

_SPREAD = 1.4
"""Standard deviation of the logits of tokens that do not follow the current one."""

_GAP = 2.4
"""The difference between the logits of a token's first follower and its second, and so on."""

SEEN = slice(1, 33)
"""The columns of a token's embedding on which the choice after the next token depends."""

_NEVER = -40.0
"""The logit of control tokens and bytes: an answer is text and never ends by itself."""

_BIAS = 4.0
"""Large, so that no layer changes its sign."""


@dataclass(frozen=True)
class Language:
    """The matrices of a language.

    The first column of the embedding is the same for all tokens: it carries the bias of the output
    matrix.

    Attributes:
        embedding: A row of mean square 1 per token; only the first `rank` columns are not zero.
        output: Turns a residual stream of mean square 1 into logits.
        memory: A token's contribution to the next token's choice of followers (see made_look_back).
        rank: The number of columns that a drafter can see.
    """

    embedding: Floats
    output: Floats
    memory: Floats
    rank: int

    def truncated(self) -> Floats:
        """Return the output matrix for a stream of `rank` numbers, also of mean square 1."""
        scale = (self.output.shape[1] / self.rank) ** 0.5
        return np.asarray(self.output[:, : self.rank] * np.float32(scale))


def make_language(tokens: Tokens, width: int, rank: int | None = None, seed: int = 2) -> Language:
    """Make a language, the same one for the same arguments.

    Args:
        tokens: The tokenizer.
        width: The width of the residual stream.
        rank: The number of columns that a drafter can see; all by default.
        seed: The seed of the random numbers.
    """
    random = np.random.default_rng(seed)
    rank = rank or width
    unit = (width / rank) ** 0.5
    embedding = np.zeros((tokens.count, width), np.float32)
    embedding[:, :rank] = random.standard_normal((tokens.count, rank), np.float32) * unit
    embedding[:, 0] = _BIAS
    text = np.flatnonzero(tokens.types == NORMAL)
    output = np.zeros_like(embedding)
    for choice in range(FOLLOWERS):
        # One cycle through the whole text, so that no chain of followers is short.
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
    memory[: SEEN.stop] = 0  # the layer passes these on unchanged
    return Language(embedding, output, memory, rank)


def _add_rows(target: Floats, at: NDArray[np.int64], rows: Floats, scale: float) -> None:
    """Add rows in portions: 32,000 tokens would need a second copy of their matrix at once."""
    for start in range(0, len(at), 4096):
        part = slice(start, start + 4096)
        np.add.at(target, at[part], rows[part] * np.float32(scale))
