"""The loop: evaluate the prompt, then draw a token and evaluate it, again and again."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from time import perf_counter

from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.llamacpp.cache import KvCache
from engines.llamacpp.context import ABORTED, EVALUATED, NO_ROOM, AbortFlag, Context
from engines.llamacpp.sampling import Sampler
from engines.llamacpp.vocabulary import Vocabulary
from engines.types import FinishReason


class Decoding:
    """One answer being made; iterate over it for its tokens, the end marker not among them.

    finish: why it ended, once it has.
    prefill_s, decode_s: seconds spent on the prompt, and on all tokens after the first.
    evaluated, steps: tokens evaluated in that time.
    first_token_at: when the first token was drawn, by `time.perf_counter`; 0 if none was.
    """

    def __init__(
        self,
        context: Context,
        cache: KvCache,
        vocabulary: Vocabulary,
        sampler: Sampler,
        cancel: CancelToken,
    ) -> None:
        self._context = context
        self._cache = cache
        self._vocabulary = vocabulary
        self._sampler = sampler
        self._cancel = cancel
        self.finish: FinishReason = "stop"
        self.prefill_s = self.decode_s = self.first_token_at = 0.0
        self.evaluated = self.steps = 0

    def tokens(self, prompt: Sequence[int], max_tokens: int | None) -> Generator[int, None, None]:
        """Continue `prompt`, whose beginning the cache holds. Raises EngineFailed."""
        flag = AbortFlag()
        self._context.watch(flag)
        forget = self._cancel.on_cancel(flag.set)
        try:
            if max_tokens == 0:
                self.finish = "length"
            elif self._prefill(prompt):
                yield from self._generate(max_tokens)
        finally:
            forget()

    def _prefill(self, prompt: Sequence[int]) -> bool:
        began = perf_counter()
        held = len(self._cache.tokens)
        for start in range(held, len(prompt), self._context.batch_size):
            part = prompt[start : start + self._context.batch_size]
            if not self._evaluate(part, output=start + len(part) == len(prompt)):
                return False
        self.evaluated = len(prompt) - held
        self.prefill_s = perf_counter() - began
        return True

    def _generate(self, max_tokens: int | None) -> Iterator[int]:
        context, cached, cancel = self._context, self._cache.tokens, self._cancel
        draw, ends = self._sampler.draw, self._vocabulary.ends_generation
        token = draw(context)
        self.first_token_at = perf_counter()
        count = 0
        while not ends(token):
            yield token
            count += 1
            if cancel.cancelled:
                self.finish = "cancelled"
                return
            if count == max_tokens or len(cached) >= context.size:
                self.finish = "length"
                return
            began = perf_counter()
            if not self._evaluate((token,), output=True):
                return
            token = draw(context)
            self.decode_s += perf_counter() - began
            self.steps += 1

    def _evaluate(self, tokens: Sequence[int], *, output: bool) -> bool:
        """Evaluate and remember `tokens`; False when a cancel came first."""
        result = ABORTED
        if not self._cancel.cancelled:
            result = self._context.evaluate(tokens, len(self._cache.tokens), output=output)
            if result == EVALUATED:
                self._cache.tokens.extend(tokens)
                return True
            self._cache.recover(tokens)
        if result == ABORTED:
            self.finish = "cancelled"
            return False
        if result == NO_ROOM:
            why = "There was no room left in the KV cache."
        else:
            why = f"llama.cpp could not evaluate the prompt or the answer (result {result})."
        raise EngineFailed(
            "The model stopped in the middle.", why, "Ask again; if it helps, with a new chat."
        )
