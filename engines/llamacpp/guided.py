"""Opens the sampler of an answer; with a grammar, a chain that follows it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from engines.errors import GrammarInvalid
from engines.llamacpp.context import Context
from engines.llamacpp.grammar import ROOT, invalid, require_grammar
from engines.llamacpp.json_schema import grammar_of
from engines.llamacpp.logits import Logits
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native
from engines.llamacpp.sampling import ChainSampler, Greedy, Sampler, weighs
from engines.types import Sampling

if TYPE_CHECKING:
    import numpy as np

_LONGEST_TOKEN: Final = 1024
"""Bytes; llama.cpp goes one call deeper with each character of a token that a grammar allows."""


def open_sampler(
    native: Native,
    model: Model,
    sampling: Sampling,
    seed: int,
    prior: Sequence[int],
    begun: Sequence[int] = (),
    *,
    later: bool = False,
) -> Sampler:
    """Open the sampler of an answer. Raises GrammarInvalid, Unsupported.

    prior: tokens of the prompt, of which the last `repeat_last_n` count as repetition.
    begun: those at its end with which the answer has begun; the grammar covers them, too.
    later: a grammar may come to hold in the middle of the answer; then it is a GuidedSampler.
    """
    if sampling.guided:
        return _open_guided(native, model, sampling, seed, prior, begun)
    if later:
        return GuidedSampler(native, model.vocabulary.size, sampling, seed, prior, None)
    if sampling.temperature <= 0 and not weighs(sampling):
        return Greedy(native, model.vocabulary.size)
    return ChainSampler(native, model.vocabulary.size, sampling, seed, prior)


def _open_guided(
    native: Native,
    model: Model,
    sampling: Sampling,
    seed: int,
    prior: Sequence[int],
    begun: Sequence[int],
) -> GuidedSampler:
    grammar = sampling.grammar or ""
    if sampling.schema is not None:
        if grammar:
            raise invalid("A schema comes with it, and an answer can follow only one of them.")
        grammar = grammar_of(sampling.schema)
    guide = open_guide(native, model, grammar, begun)
    try:
        return GuidedSampler(native, model.vocabulary.size, sampling, seed, prior, guide)
    except BaseException:
        guide.close()
        raise


def open_guide(
    native: Native, model: Model, grammar: str, begun: Sequence[int] = ()
) -> GrammarState:
    """Open the state of a grammar behind tokens that it covers. Raises GrammarInvalid."""
    guide = GrammarState(native, model, grammar)
    try:
        for token in begun:
            guide.accept(token)
    except BaseException:
        guide.close()
        raise
    return guide


class GuidedSampler(ChainSampler):
    """Draws tokens that follow a grammar, as long as there is one; it owns the guide.

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
        guide: GrammarState | None,
    ) -> None:
        super().__init__(native, vocabulary_size, sampling, seed, prior)
        self._guide = guide
        self._guiding = guide is not None
        self._logits = Logits(native.api, vocabulary_size)
        self._candidates = _token_data(vocabulary_size)
        self._candidates["id"] = range(vocabulary_size)
        self._ids = self._candidates["id"].copy()

    def draw(self, context: Context, row: int = -1) -> int:
        if self._guide is None or not self._guiding:
            return super().draw(context, row)
        token = self._draw(context, row, None)
        if not self._guide.allows(token):
            token = self._draw(context, row, self._guide)
        self.take(token)
        return token

    def take(self, token: int) -> None:
        if self._guide is not None and self._guiding:
            self._guide.accept(token)
        super().take(token)

    def guide(self, *, on: bool) -> None:
        self._guiding = on

    def follow(self, guide: GrammarState) -> None:
        """Follow another grammar from here on; it is owned from now on."""
        if self._guide is not None:
            self._guide.close()
        self._guide = guide

    def _draw(self, context: Context, row: int, guide: GrammarState | None) -> int:
        api, candidates = self._api, self._candidates
        candidates["id"] = self._ids
        candidates["logit"] = self._logits.row(context.pointer, row)
        array = _token_data_array(api, candidates)
        if guide is not None:
            guide.restrict(array)
        api.llama_sampler_apply(self._chain, ctypes.byref(array))
        # The chain has sorted and cut what it was given, in place.
        return int(candidates["id"][array.selected])

    def close(self) -> None:
        super().close()
        if self._guide is not None:
            self._guide.close()


class GrammarState:
    """The state of a grammar in llama.cpp: which tokens may come next. Raises GrammarInvalid.

    llama.cpp ends the process when it is to accept a token that the grammar does not allow.
    """

    def __init__(self, native: Native, model: Model, grammar: str) -> None:
        require_grammar(grammar)
        api = self._api = native.api
        vocabulary = api.llama_model_get_vocab(model.pointer)
        if model.vocabulary.longest > _LONGEST_TOKEN:
            raise invalid("Some tokens of this model are too long to be checked against a grammar.")
        with native.log.watch() as complaints:
            self._grammar = api.llama_sampler_init_grammar(
                vocabulary, grammar.encode(), ROOT.encode()
            )
        if not self._grammar:
            raise invalid(f"llama.cpp says: {' '.join(complaints) or 'nothing about the reason'}.")
        self._one = _token_data(1)
        self._only = _token_data_array(api, self._one)

    def allows(self, token: int) -> bool:
        """Tell whether the token may come next; an end marker only where the grammar may end."""
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


def _token_data(count: int) -> np.ndarray[Any, Any]:
    """Make an array of so many `llama_token_data` of llama.h, all zero."""
    import numpy as np

    return np.zeros(count, [("id", np.int32), ("logit", np.float32), ("p", np.float32)])


def _token_data_array(api: Any, candidates: np.ndarray[Any, Any]) -> Any:
    """Make a `llama_token_data_array` over `candidates`, unsorted and with none selected."""
    data = ctypes.cast(candidates.ctypes.data, ctypes.POINTER(api.llama_token_data))
    return api.llama_token_data_array(data, len(candidates), -1, False)
