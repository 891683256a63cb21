"""The library's own sampler chain for one answer, and the grammar that it may have to follow.

What is exact about it when tokens are drafted ahead: a draft names one token for sure, so as a
distribution it is a point mass. The rejection rule of speculative sampling keeps a draft x with
probability min(1, p(x) / q(x)), which is p(x) for a point mass, and otherwise draws from what is
left of p without x. Drawing once from p and keeping the draft if it is what was drawn does just
that, with one random number. So every token is one draw from the model's own logits by the whole
chain, in the order of the text: what drafted, and how well, has no part in it. The penalties and
the grammar are told exactly the tokens that were drawn. Sources: Leviathan, Kalman and Matias,
"Fast inference from transformers via speculative decoding", 2023; Chen et al., "Accelerating large
language model decoding with speculative sampling", 2023.
"""

from __future__ import annotations

import ctypes
import secrets
from collections.abc import Sequence
from itertools import repeat
from typing import Any, Final

import numpy as np

from engines.errors import GrammarInvalid
from engines.llamacpp.context import Context
from engines.llamacpp.grammar import ROOT, invalid, require_grammar
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native
from engines.types import Sampling

_RANDOM_SEED = 0xFFFFFFFF
"""LLAMA_DEFAULT_SEED: the one value that llama.cpp replaces with a seed of its own."""

_LONGEST_REPEAT: Final = 1 << 24
"""Tokens; more than any context has. llama.cpp makes room for all of them at once."""

_LONGEST_TOKEN: Final = 1024
"""Bytes; llama.cpp goes one call deeper with each character of a token that a grammar allows."""

_TOKEN_DATA: Final = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""`llama_token_data` in llama.h."""


def actual_seed(sampling: Sampling) -> int:
    """The seed to draw with: the one asked for, or a fresh one of 31 bits."""
    return secrets.randbits(31) if sampling.seed is None else sampling.seed % _RANDOM_SEED


def open_sampler(
    native: Native,
    model: Model,
    sampling: Sampling,
    seed: int,
    prior: Sequence[int],
    begun: Sequence[int] = (),
) -> Sampler:
    """What draws an answer's tokens. Raises GrammarInvalid.

    prior: tokens of the prompt, of which the last `repeat_last_n` count as repetition.
    begun: those at its end with which the answer has begun; the grammar covers them, too.
    """
    if sampling.grammar is None:
        return Sampler(native, model.vocabulary.size, sampling, seed, prior)
    guide = Guide(native, model, sampling.grammar)
    try:
        for token in begun:
            guide.accept(token)
        return GuidedSampler(native, model.vocabulary.size, sampling, seed, prior, guide)
    except BaseException:
        guide.close()
        raise


class Sampler:
    """Draws tokens. Close it when the answer ends; it owns the chain and all its parts."""

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
        repeat = min(sampling.repeat_last_n, _LONGEST_REPEAT)
        if sampling.repeat_penalty != 1 and repeat > 0:
            self._add(
                api.llama_sampler_init_penalties(
                    vocabulary_size, repeat, sampling.repeat_penalty, 0.0, 0.0
                )
            )
            for token in prior[-repeat:]:
                api.llama_sampler_accept(self._chain, token)
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
        """The next token, from a row of logits of the last evaluation; its last one by default.

        Raises GrammarInvalid where the grammar leaves no token.
        """
        return int(self._sample(self._chain, context.pointer, row))

    def close(self) -> None:
        if self._chain:
            self._api.llama_sampler_free(self._chain)
            self._chain = None


class GuidedSampler(Sampler):
    """Draws tokens that follow a grammar; it owns the guide.

    To ask the grammar about every token of the vocabulary takes longer than all else. So the chain
    draws from all tokens first, and only if the one it drew is not allowed it draws again from
    those that are. llama.cpp's own programs do the same (common_sampler_sample).
    """

    def __init__(
        self,
        native: Native,
        vocabulary_size: int,
        sampling: Sampling,
        seed: int,
        prior: Sequence[int],
        guide: Guide,
    ) -> None:
        super().__init__(native, vocabulary_size, sampling, seed, prior)
        self._guide = guide
        self._ids = np.arange(vocabulary_size, dtype=np.int32)
        self._candidates = np.empty(vocabulary_size, _TOKEN_DATA)

    def draw(self, context: Context, row: int = -1) -> int:
        token = self._draw(context, row, guided=False)
        if not self._guide.allows(token):
            token = self._draw(context, row, guided=True)
        self._guide.accept(token)
        self._api.llama_sampler_accept(self._chain, token)
        return token

    def _draw(self, context: Context, row: int, *, guided: bool) -> int:
        api, candidates = self._api, self._candidates
        logits = api.llama_get_logits_ith(context.pointer, row)
        candidates["id"] = self._ids
        candidates["logit"] = np.ctypeslib.as_array(logits, (len(candidates),))
        array = _token_data_array(api, candidates)
        if guided:
            self._guide.restrict(array)
        api.llama_sampler_apply(self._chain, ctypes.byref(array))
        # The chain has sorted and cut what it was given, in place.
        return int(candidates["id"][array.selected])

    def close(self) -> None:
        super().close()
        self._guide.close()


class Guide:
    """llama.cpp's own state of a grammar: what may come next. Raises GrammarInvalid.

    llama.cpp ends the process when it is to accept a token that the grammar does not allow.
    """

    def __init__(self, native: Native, model: Model, grammar: str) -> None:
        require_grammar(grammar)
        api = self._api = native.api
        vocabulary = api.llama_model_get_vocab(model.pointer)
        texts = map(api.llama_vocab_get_text, repeat(vocabulary), range(model.vocabulary.size))
        if any(len(text) > _LONGEST_TOKEN for text in texts):
            raise invalid("This model has tokens that are too long to be held against a grammar.")
        with native.log.watch() as complaints:
            self._grammar = api.llama_sampler_init_grammar(
                vocabulary, grammar.encode(), ROOT.encode()
            )
        if not self._grammar:
            raise invalid(f"llama.cpp says: {' '.join(complaints) or 'nothing about the reason'}.")
        self._one = np.zeros(1, _TOKEN_DATA)
        self._only = _token_data_array(api, self._one)

    def allows(self, token: int) -> bool:
        """Whether the token may come next; an end marker only where the grammar may end."""
        self._one[0] = (token, 1.0, 0.0)
        self._api.llama_sampler_apply(self._grammar, ctypes.byref(self._only))
        return bool(self._one["logit"][0] == 1.0)

    def restrict(self, candidates: Any) -> None:
        """Set the logits of all tokens that may not come next to minus infinity."""
        self._api.llama_sampler_apply(self._grammar, ctypes.byref(candidates))

    def accept(self, token: int) -> None:
        """Take note of the next token."""
        if not self.allows(token):
            raise GrammarInvalid(
                "The answer cannot go on.",
                "No token of this model follows both the grammar and what is written so far.",
                "Ask with another grammar, or without one.",
            )
        self._api.llama_sampler_accept(self._grammar, token)

    def close(self) -> None:
        if self._grammar:
            self._api.llama_sampler_free(self._grammar)
            self._grammar = None


def _token_data_array(api: Any, candidates: np.ndarray[Any, Any]) -> Any:
    """A `llama_token_data_array` over `candidates`, unsorted and with none selected."""
    data = ctypes.cast(candidates.ctypes.data, ctypes.POINTER(api.llama_token_data))
    return api.llama_token_data_array(data, len(candidates), -1, False)
