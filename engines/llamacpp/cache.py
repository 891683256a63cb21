"""Which tokens the KV cache holds, and how much of it the next prompt can go on from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engines.llamacpp.context import Context
from engines.llamacpp.model import Model


def common_prefix(held: Sequence[int], prompt: Sequence[int]) -> int:
    """How many tokens at the start are the same."""
    count = 0
    for one, other in zip(held, prompt, strict=False):
        if one != other:
            break
        count += 1
    return count


def reusable(
    held: Sequence[int],
    prompt: Sequence[int],
    *,
    first_position: int,
    sliding_window: int,
    recurrent: bool,
) -> int:
    """How many tokens of `prompt` need no evaluation, given what the cache holds.

    At least one is always left to evaluate, for its logits. A recurrent state has no past to go
    back to. Sliding window layers forget the keys before `first_position`; asked to remove later
    tokens, llama.cpp does so without complaint and then answers from a window with a hole. So
    the window before the cut has to be there as a whole.
    """
    keep = min(common_prefix(held, prompt), len(prompt) - 1)
    if keep == len(held):
        return keep
    if recurrent or (sliding_window > 0 and first_position > max(0, keep - sliding_window)):
        return 0
    return keep


class KvCache:
    """The keys and values of the context's one sequence."""

    def __init__(self, api: Any, context: Context, model: Model) -> None:
        self._api = api
        self._context = context
        self._sliding_window = model.sliding_window
        self._recurrent = model.recurrent
        self.tokens: list[int] = []

    def reuse(self, prompt: Sequence[int]) -> int:
        """Keep what `prompt` begins with and drop the rest; returns how many tokens stay."""
        memory = self._context.memory
        keep = reusable(
            self.tokens,
            prompt,
            first_position=int(self._api.llama_memory_seq_pos_min(memory, 0)),
            sliding_window=self._sliding_window,
            recurrent=self._recurrent,
        )
        if keep == len(self.tokens):
            return keep
        if keep == 0 or not self._api.llama_memory_seq_rm(memory, 0, keep, -1):
            self.clear()
            return 0
        del self.tokens[keep:]
        return keep

    def roll_back(self, length: int) -> None:
        """Drop what the last evaluation added behind the first `length` tokens.

        A recurrent state goes back at most `n_rs_seq` tokens, and once after each evaluation.
        """
        if length < len(self.tokens):
            if not self._api.llama_memory_seq_rm(self._context.memory, 0, length, -1):
                raise RuntimeError("the KV cache did not give back the tokens of a draft")
            del self.tokens[length:]

    def clear(self) -> None:
        self._api.llama_memory_clear(self._context.memory, False)
        self.tokens.clear()

    def recover(self, tried: Sequence[int]) -> None:
        """Learn what is held after an evaluation of `tried` ended early.

        llama.cpp keeps the parts of a batch that were done. A recurrent state, though, has taken
        in part of the one that was not, although its positions look right.
        """
        if self._recurrent:
            self.clear()
            return
        held = int(self._api.llama_memory_seq_pos_max(self._context.memory, 0)) + 1
        self.tokens = [*self.tokens, *tried][:held]
