"""The library's own sampler chain for one answer."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from engines.llamacpp.context import Context
from engines.llamacpp.native import Native
from engines.types import Sampling

_RANDOM_SEED = 0xFFFFFFFF
"""LLAMA_DEFAULT_SEED: the one value that llama.cpp replaces with a seed of its own."""


def actual_seed(sampling: Sampling) -> int:
    """The seed to draw with: the one asked for, or a fresh one of 31 bits."""
    return secrets.randbits(31) if sampling.seed is None else sampling.seed % _RANDOM_SEED


class Sampler:
    """Draws tokens. Close it when the answer ends; it owns the chain and all its parts.

    prior: tokens of the prompt, of which the last `repeat_last_n` count as repetition.
    """

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
        penalised = sampling.repeat_penalty != 1 and sampling.repeat_last_n > 0
        if penalised:
            self._add(
                api.llama_sampler_init_penalties(
                    vocabulary_size, sampling.repeat_last_n, sampling.repeat_penalty, 0.0, 0.0
                )
            )
            for token in prior[-sampling.repeat_last_n :]:
                api.llama_sampler_accept(self._chain, token)
        if sampling.temperature <= 0:
            self._add(api.llama_sampler_init_greedy())
            return
        if sampling.top_k > 0:
            self._add(api.llama_sampler_init_top_k(sampling.top_k))
        if sampling.top_p < 1:
            self._add(api.llama_sampler_init_top_p(sampling.top_p, 1))
        if sampling.min_p > 0:
            self._add(api.llama_sampler_init_min_p(sampling.min_p, 1))
        self._add(api.llama_sampler_init_temp(sampling.temperature))
        self._add(api.llama_sampler_init_dist(seed))

    def _add(self, part: object) -> None:
        self._api.llama_sampler_chain_add(self._chain, part)

    def draw(self, context: Context, row: int = -1) -> int:
        """The next token, from a row of logits of the last evaluation; its last one by default."""
        return int(self._sample(self._chain, context.pointer, row))

    def close(self) -> None:
        if self._chain:
            self._api.llama_sampler_free(self._chain)
            self._chain = None
