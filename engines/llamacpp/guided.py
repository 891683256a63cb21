"""Opens the sampler of an answer; with a grammar, a sampler chain that follows it."""

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
from engines.llamacpp.sampling import ChainSampler, Greedy, Sampler, changes_ranking
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
        native: The llama.cpp library.
        model: The model that writes the answer.
        sampling: The settings for drawing tokens.
        seed: The random seed.
        prior: Tokens of the prompt; the last `repeat_last_n` count as repetition.
        begun: Tokens at the end of the prompt that already belong to the answer; the grammar covers
            them, too.
        later: Whether a grammar can start in the middle of the answer; then the result is a
            GuidedSampler.
        cancel: Ends the compilation of a grammar.

    Raises:
        GrammarInvalid: The grammar or the schema cannot be used.
        Unsupported: A number is not a token of the model.
        Cancelled: `cancel` was set first.
    """
    guide = None
    if sampling.guided:
        lark = Lark()
        start = write_answer(sampling, model.guides, lark, cancel)
        guide = model.guides.open(lark.text(start), begun, cancel)
    if guide is not None or later:
        return GuidedSampler(native, model.vocabulary.size, sampling, seed, prior, guide)
    if sampling.temperature <= 0 and not changes_ranking(sampling):
        return Greedy(native, model.vocabulary.size)
    return ChainSampler(native, model.vocabulary.size, sampling, seed, prior)


class GuidedSampler(ChainSampler):
    """A sampler whose tokens follow a grammar while there is one.

    Checking every token of the vocabulary takes longer than checking one. So the chain first draws
    from all tokens. Only if the drawn token is not allowed, it draws again, from the allowed
    tokens. llama.cpp's own programs do the same (common_sampler_sample).
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
        """Draw the next token, from the allowed ones if the first choice is not allowed."""
        if self._guide is None or not self._guiding:
            return super().draw(context, row)
        token = self._draw(context, row, None)
        if not self._guide.allows(token):
            token = self._draw(context, row, self._guide)
        self.take(token)
        return token

    def take(self, token: int) -> None:
        """Note a forced token in the chain and in the grammar."""
        if self._guide is not None and self._guiding:
            self._guide.accept(token)
        super().take(token)

    def guide(self, *, on: bool) -> None:
        """Turn the grammar on or off."""
        self._guiding = on

    def follow(self, guide: TokenGuide) -> None:
        """Follow another grammar from now on."""
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
        # The chain has sorted and shortened the candidates in place.
        return int(candidates["id"][array.selected])


def _token_data(count: int) -> np.ndarray[Any, Any]:
    """Return an array of `count` `llama_token_data` of llama.h, all zero."""
    import numpy as np

    return np.zeros(count, [("id", np.int32), ("logit", np.float32), ("p", np.float32)])


def _token_data_array(api: Any, candidates: np.ndarray[Any, Any]) -> Any:
    """Return an unsorted `llama_token_data_array` over `candidates`, with none selected."""
    data = ctypes.cast(candidates.ctypes.data, ctypes.POINTER(api.llama_token_data))
    return api.llama_token_data_array(data, len(candidates), -1, False)
