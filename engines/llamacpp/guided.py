"""Opens the sampler of an answer; with a grammar, a chain that follows it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engines.cancel import CancelToken
from engines.llamacpp.constraints import TokenGuide, write_answer
from engines.llamacpp.context import Context
from engines.llamacpp.lark import Lark
from engines.llamacpp.logits import Logits
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native
from engines.llamacpp.sampling import ChainSampler, Greedy, Sampler, weighs
from engines.types import Sampling

if TYPE_CHECKING:
    import numpy as np


def open_sampler(
    native: Native,
    model: Model,
    sampling: Sampling,
    seed: int,
    prior: Sequence[int],
    begun: Sequence[int] = (),
    *,
    later: bool = False,
    cancel: CancelToken | None = None,
) -> Sampler:
    """Open the sampler of an answer.

    Args:
        native: The libraries.
        model: The model that writes it.
        sampling: How it draws.
        seed: What it draws with.
        prior: Tokens of the prompt, of which the last `repeat_last_n` count as repetition.
        begun: Those at its end with which the answer has begun; the grammar covers them, too.
        later: A grammar may come to hold in the middle of the answer; then it is a GuidedSampler.
        cancel: Gives up compiling a grammar.

    Raises:
        GrammarInvalid: The grammar or the schema cannot be used.
        Unsupported: A number is no token of the model.
        Cancelled: `cancel` came first.
    """
    guide = None
    if sampling.guided:
        lark = Lark()
        start = write_answer(sampling, model.guides, lark, cancel)
        guide = model.guides.open(lark.text(start), begun, cancel)
    if guide is not None or later:
        return GuidedSampler(native, model.vocabulary.size, sampling, seed, prior, guide)
    if sampling.temperature <= 0 and not weighs(sampling):
        return Greedy(native, model.vocabulary.size)
    return ChainSampler(native, model.vocabulary.size, sampling, seed, prior)


class GuidedSampler(ChainSampler):
    """A sampler whose tokens follow a grammar, as long as there is one.

    To ask the grammar about every token of the vocabulary takes longer than to ask about one. So
    the chain draws from all tokens first, and only if the one it drew is not allowed it draws again
    from those that are. llama.cpp's own programs do the same (common_sampler_sample).
    """

    def __init__(
        self,
        native: Native,
        vocabulary_size: int,
        sampling: Sampling,
        seed: int,
        prior: Sequence[int],
        guide: TokenGuide | None,
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

    def follow(self, guide: TokenGuide) -> None:
        """Follow another grammar from here on."""
        self._guide = guide

    def _draw(self, context: Context, row: int, guide: TokenGuide | None) -> int:
        api, logits = self._api, self._logits.row(context.pointer, row)
        candidates = self._candidates
        if guide is None:
            candidates["id"], candidates["logit"] = self._ids, logits
        else:
            allowed = guide.allowed()
            candidates = candidates[: len(allowed)]
            candidates["id"], candidates["logit"] = allowed, logits[allowed]
        array = _token_data_array(api, candidates)
        api.llama_sampler_apply(self._chain, ctypes.byref(array))
        # The chain has sorted and cut what it was given, in place.
        return int(candidates["id"][array.selected])


def _token_data(count: int) -> np.ndarray[Any, Any]:
    """Make an array of so many `llama_token_data` of llama.h, all zero."""
    import numpy as np

    return np.zeros(count, [("id", np.int32), ("logit", np.float32), ("p", np.float32)])


def _token_data_array(api: Any, candidates: np.ndarray[Any, Any]) -> Any:
    """Make a `llama_token_data_array` over `candidates`, unsorted and with none selected."""
    data = ctypes.cast(candidates.ctypes.data, ctypes.POINTER(api.llama_token_data))
    return api.llama_token_data_array(data, len(candidates), -1, False)
