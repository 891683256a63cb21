"""The samplers of an answer: llama.cpp's own sampler chain, or the likeliest token.

Why drafting does not change the distribution: a draft names one token with certainty, so as a
distribution it is a point mass. The rejection rule of speculative sampling keeps a draft x with
probability min(1, p(x) / q(x)), which is p(x) for a point mass, and otherwise draws from the rest
of p without x. Drawing once from p, and keeping the draft if it equals the drawn token, does
exactly this with one random number. So every token is one draw from the model's own logits by the
whole chain, in the order of the text, regardless of the drafter and its quality. The penalties and
the grammar receive exactly the tokens that were drawn. Sources: Leviathan, Kalman and Matias, "Fast
inference from transformers via speculative decoding", 2023; Chen et al., "Accelerating large
language model decoding with speculative sampling", 2023.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, Final, Protocol

from engines.llamacpp.context import Context
from engines.llamacpp.logits import Logits
from engines.llamacpp.native import Native
from engines.llamacpp.vocabulary import no_token
from engines.types import Sampling

_RANDOM_SEED = 0xFFFFFFFF
"""LLAMA_DEFAULT_SEED: the one value that llama.cpp replaces with a seed of its own."""

_LONGEST_REPEAT: Final = 1 << 24
"""More tokens than any context has. llama.cpp allocates room for all of them at once."""


def actual_seed(sampling: Sampling) -> int:
    """Return the requested seed, or a random one of 31 bits."""
    import secrets

    return secrets.randbits(31) if sampling.seed is None else sampling.seed % _RANDOM_SEED


_REMEMBERED: Final = 1 << 17
"""Number of an answer's last tokens that count for its presence and frequency penalties."""


def penalises(sampling: Sampling) -> bool:
    """Return whether recently used tokens become less likely."""
    return sampling.repeat_penalty != 1 and sampling.repeat_last_n > 0


def changes_ranking(sampling: Sampling) -> bool:
    """Return whether any setting changes which token is the likeliest."""
    of_answer = sampling.presence_penalty or sampling.frequency_penalty
    return bool(penalises(sampling) or of_answer or sampling.logit_bias)


class Sampler(Protocol):
    """Draws tokens. Close it when the answer ends."""

    def draw(self, context: Context, row: int = -1) -> int:
        """Draw the next token from a row of logits of the last evaluation, by default the last.

        Raises:
            GrammarInvalid: The grammar allows no token.
        """
        ...

    def take(self, token: int) -> None:
        """Note a token that was not drawn but forced."""
        ...

    def guide(self, *, on: bool) -> None:
        """Turn the grammar, if there is one, on or off for the next tokens; it starts on."""
        ...

    def close(self) -> None:
        """Free the sampler's native parts."""
        ...


class Greedy:
    """Always draws the likeliest token, the first of several, in a tenth of a chain's time."""

    def __init__(self, native: Native, vocabulary_size: int) -> None:
        self._logits = Logits(native.api, vocabulary_size)

    def draw(self, context: Context, row: int = -1) -> int:
        """Return the likeliest token of a row of logits."""
        return int(self._logits.row(context.pointer, row).argmax())

    def take(self, token: int) -> None:
        """Do nothing: it remembers no tokens."""

    def guide(self, *, on: bool) -> None:
        """Do nothing: it has no grammar."""

    def close(self) -> None:
        """Do nothing: it owns nothing."""


class ChainSampler:
    """Draws with llama.cpp's sampler chain; it owns the chain and all its parts."""

    def __init__(
        self,
        native: Native,
        vocabulary_size: int,
        sampling: Sampling,
        seed: int,
        prior: Sequence[int],
    ) -> None:
        api = self._api = native.api
        self._sample = api.llama_sampler_sample
        params = api.llama_sampler_chain_default_params()
        params.no_perf = True
        self._chain = api.llama_sampler_chain_init(params)
        try:
            self._assemble(vocabulary_size, sampling, seed, prior)
        except BaseException:
            self.close()
            raise

    def _assemble(
        self, vocabulary_size: int, sampling: Sampling, seed: int, prior: Sequence[int]
    ) -> None:
        api = self._api
        if sampling.logit_bias:
            self._add(_biases(api, vocabulary_size, sampling.logit_bias))
        if penalises(sampling):
            repeat = min(sampling.repeat_last_n, _LONGEST_REPEAT)
            penalties = api.llama_sampler_init_penalties(
                vocabulary_size, repeat, sampling.repeat_penalty, 0.0, 0.0
            )
            self._add(penalties)
            for token in prior[-repeat:]:
                api.llama_sampler_accept(penalties, token)
        if sampling.presence_penalty or sampling.frequency_penalty:
            # This is a separate part, as it does not count the prompt.
            frequency, presence = sampling.frequency_penalty, sampling.presence_penalty
            self._add(
                api.llama_sampler_init_penalties(
                    vocabulary_size, _REMEMBERED, 1.0, frequency, presence
                )
            )
        if sampling.temperature <= 0:
            self._add(api.llama_sampler_init_greedy())
            return
        if sampling.top_k > 0:
            self._add(api.llama_sampler_init_top_k(min(sampling.top_k, vocabulary_size)))
        if sampling.top_p < 1:
            self._add(api.llama_sampler_init_top_p(sampling.top_p, 1))
        if sampling.min_p > 0:
            self._add(api.llama_sampler_init_min_p(sampling.min_p, 1))
        self._add(api.llama_sampler_init_temp(sampling.temperature))
        self._add(api.llama_sampler_init_dist(seed))

    def _add(self, part: object) -> None:
        self._api.llama_sampler_chain_add(self._chain, part)

    def draw(self, context: Context, row: int = -1) -> int:
        """Draw the next token with the whole chain."""
        return int(self._sample(self._chain, context.pointer, row))

    def take(self, token: int) -> None:
        """Let the chain's penalties count a forced token."""
        self._api.llama_sampler_accept(self._chain, token)

    def guide(self, *, on: bool) -> None:
        """Do nothing: it has no grammar."""

    def close(self) -> None:
        """Free the chain, once."""
        if self._chain:
            self._api.llama_sampler_free(self._chain)
            self._chain = None


class EndlessSampler:
    """A sampler that suppresses the tokens that end an answer. It owns the sampler that draws.

    Args:
        native: The llama.cpp library.
        vocabulary_size: Number of tokens in the vocabulary.
        sampler: The sampler that draws.
        ends: The tokens to suppress.
        least: The number of tokens after which they are allowed; None for never.
    """

    def __init__(
        self,
        native: Native,
        vocabulary_size: int,
        sampler: Sampler,
        ends: Collection[int],
        least: int | None,
    ) -> None:
        self._sampler = sampler
        self._logits = Logits(native.api, vocabulary_size)
        self._ends = list(ends)
        self._least = least
        self._drawn = 0

    def draw(self, context: Context, row: int = -1) -> int:
        """Draw the next token, but no end token before the least number is reached."""
        due = self._least is not None and self._drawn >= self._least
        self._drawn += 1
        if due or not self._ends:
            return self._sampler.draw(context, row)
        logits = self._logits.row(context.pointer, row)
        saved = logits[self._ends]
        logits[self._ends] = -math.inf
        try:
            return self._sampler.draw(context, row)
        finally:
            # The row is read again to note how likely the token was.
            logits[self._ends] = saved

    def take(self, token: int) -> None:
        """Count a forced token, and pass it on."""
        self._drawn += 1
        self._sampler.take(token)

    def guide(self, *, on: bool) -> None:
        """Turn the grammar on or off for the next tokens."""
        self._sampler.guide(on=on)

    def close(self) -> None:
        """Close the sampler that draws."""
        self._sampler.close()


def _biases(api: Any, vocabulary_size: int, biases: Sequence[tuple[int, float]]) -> Any:
    """Return the part that adds to the logits of tokens.

    Raises:
        Unsupported: A number is not a token of the vocabulary.
    """
    pairs = (api.llama_logit_bias * len(biases))()
    for pair, (token, bias) in zip(pairs, biases, strict=True):
        if not 0 <= token < vocabulary_size:
            raise no_token(token, vocabulary_size)
        pair.token, pair.bias = token, bias
    return api.llama_sampler_init_logit_bias(vocabulary_size, len(biases), pairs)
