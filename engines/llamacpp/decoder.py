"""The loop: evaluate the prompt, then draw, evaluate and draw again; with drafts, several at once.

A step without drafts evaluates the token drawn last and draws the next one. A step with k drafts
evaluates that token and the drafts in one call, which gives k + 1 rows of logits. Tokens are drawn
from one row after the other, as long as the token drawn is the one that was drafted there: then
the next row is what it would have been without drafts. The first that differs was drawn from the
model's own distribution all the same, and ends the step. So every token that leaves is drawn by
the model's whole sampler chain from the model's own logits; drafts decide how many at a time.

For a draft that is one certain token, that is the exact rejection rule of speculative sampling: it
is kept with the probability that the model gives it, and otherwise the token is drawn from what
remains. Source: Leviathan, Kalman and Matias, "Fast inference from transformers via speculative
decoding", 2023.

Some memories go back only as a whole, to where they were before a step (`KvCache.mark`). The tokens
of a step that stay where a draft did not are evaluated once more then, in one call with the next.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from sys import maxsize
from time import perf_counter
from typing import Final

from engines.cancel import CancelToken
from engines.errors import EngineFailed, GrammarInvalid
from engines.llamacpp.cache import KvCache
from engines.llamacpp.context import ABORTED, EVALUATED, NO_ROOM, AbortFlag, Context
from engines.llamacpp.sampling import Sampler
from engines.llamacpp.speculative.speculation import Speculation
from engines.llamacpp.vocabulary import Vocabulary
from engines.types import FinishReason

_SHORT: Final = 32
"""Tokens of a prompt that take hardly longer to evaluate than one more call."""


class Decoding:
    """An answer being decoded; `tokens` yields its tokens, but not the end marker.

    speculation: what drafts for this answer, None if nothing does.
    finish: why it ended, once it has.
    prefill_s, decode_s: seconds spent on the prompt, and on all tokens after the first; with what
    drafts take beside evaluating.
    evaluated, decoded: tokens evaluated, and drawn, in that time.
    first_token_at: when the first token was drawn, by `time.perf_counter`; 0 if none was.
    """

    def __init__(
        self,
        context: Context,
        cache: KvCache,
        vocabulary: Vocabulary,
        sampler: Sampler,
        speculation: Speculation | None,
        cancel: CancelToken,
    ) -> None:
        self._context = context
        self._cache = cache
        self._vocabulary = vocabulary
        self._sampler = sampler
        self._speculation = speculation
        self._cancel = cancel
        self.finish: FinishReason = "stop"
        self.prefill_s = self.decode_s = self.first_token_at = 0.0
        self.evaluated = self.decoded = 0
        self._beside_s = 0.0  # spent on drafts since the last step was told, and not in a step
        self._again: list[int] = []  # given out, and to be evaluated again with the next token

    def tokens(
        self, prompt: Sequence[int], max_tokens: int | None, stable: int | None = None
    ) -> Generator[int, None, None]:
        """Continue `prompt`, whose beginning the cache holds. Raises EngineFailed.

        stable: how many tokens of it the next prompt will surely begin with; None for all.
        Whenever it ends, the cache holds the prompt and the tokens that were given out, the last
        of them perhaps not yet, as if there had been no drafts; or, where a memory goes back as a
        whole, those before the last step.
        """
        with self._watched():
            if max_tokens == 0:
                self.finish = "length"
                return
            if not self._prefill(prompt, len(prompt) if stable is None else stable):
                return
            run = [self._sampler.draw(self._context)]
            self.first_token_at = perf_counter()
            position = first = len(self._cache.tokens)
            count = 0
            while run:
                try:
                    for position, token in enumerate(run, first):
                        if self._vocabulary.ends_generation(token):
                            return
                        yield token
                        count += 1
                        if self._cancel.cancelled:
                            self.finish = "cancelled"
                            return
                        if count == max_tokens or position >= self._context.size:
                            self.finish = "length"
                            return
                finally:
                    self._cut(position)
                most = self._context.drafts - len(self._again)
                room = min(most, self._context.size - position - 1)
                run = self._step(token, position, min(room, (max_tokens or maxsize) - count - 1))
                first = position + 1

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Let a cancel end this answer's evaluations, but not what is saved of it afterwards."""
        flag = AbortFlag()
        self._watch(flag)
        forget = self._cancel.on_cancel(flag.set)
        try:
            yield
        finally:
            forget()
            self._watch(AbortFlag())

    def _watch(self, flag: AbortFlag) -> None:
        self._context.watch(flag)
        if self._speculation is not None:
            self._speculation.watch(flag)

    def _prefill(self, prompt: Sequence[int], stable: int) -> bool:
        began = perf_counter()
        held, last = len(self._cache.tokens), len(prompt) - 1
        for part in self._parts(held, len(prompt), stable):
            self._cache.checkpoint()
            tokens = prompt[part.start : part.stop]
            if not self._evaluate(tokens, outputs=int(part.stop > last)):
                return False
            if self._speculation is not None:
                self._speculation.observe(tokens, part.start)
        if self._speculation is not None:
            self._speculation.prepare()
        self.evaluated = len(prompt) - held
        self.prefill_s = perf_counter() - began
        return True

    def _parts(self, held: int, length: int, stable: int) -> Iterator[range]:
        """Split a prompt into the calls in which it is evaluated.

        Where the memory cannot go back, the last token comes alone: with a checkpoint before it,
        another answer to the same prompt costs one token. If the next prompt will not have the
        last ones, where the reasoning begins, all of those do. A short part of a model with a
        window is rather evaluated again, which takes less time than one more call each time.
        """
        batch = self._context.batch_size
        alone = self._cache.recurrent or length - held > _SHORT
        end = length
        if self._cache.needs_checkpoints and (alone or stable < length):
            end = max(held, min(stable, length - 1))
        for begin, stop in ((held, end), (end, length)):
            for start in range(begin, stop, batch):
                yield range(start, min(start + batch, stop))

    def _step(self, token: int, position: int, room: int) -> list[int]:
        """Draw the next tokens, with at most `room` drafted; all but the last are evaluated.

        Empty when a cancel came first.
        """
        speculation, began = self._speculation, perf_counter()
        again = self._again
        drafts = speculation.propose(token, position, room, len(again)) if speculation else ()
        drafted = perf_counter()
        if drafts:
            self._cache.mark()
        tokens = (*again, token, *drafts)
        if not self._evaluate(tokens, outputs=1 + len(drafts), trial=len(drafts)):
            return []
        self._again = []
        try:
            run = self._draw(drafts)
        except BaseException:
            self._cut(position + 1)
            raise
        ended = perf_counter()
        if speculation is not None:
            speculation.observe((*again, token, *run[:-1]), position - len(again))
            speculation.learn(drafts, run, drafted - began, ended - drafted, self._beside_s)
            self._beside_s = perf_counter() - ended
        self.decode_s += ended - began + self._beside_s
        self.decoded += len(run)
        return run

    def _draw(self, drafts: Sequence[int]) -> list[int]:
        """Draw tokens from the rows of the last call, up to the first that is not as drafted."""
        draw, context, run = self._sampler.draw, self._context, []
        try:
            for row, draft in enumerate(drafts, -1 - len(drafts)):
                run.append(draw(context, row))
                if run[-1] != draft or self._vocabulary.ends_generation(draft):
                    return run
            run.append(draw(context))
        except GrammarInvalid:
            # What was drawn before leaves first; the next step comes to the same end.
            if not run:
                raise
        return run

    def _cut(self, length: int) -> None:
        """Drop what was evaluated on trial and has no place among the first `length` tokens."""
        if self._speculation is not None and length < len(self._cache.tokens):
            began = perf_counter()
            self._again = self._cache.roll_back(length)
            self._speculation.roll_back(length)
            spent = perf_counter() - began
            self._beside_s += spent
            self.decode_s += spent

    def _evaluate(self, tokens: Sequence[int], *, outputs: int, trial: int = 0) -> bool:
        """Evaluate and remember `tokens`; False when a cancel came first.

        trial: how many of them, the last ones, are drafts, which do not stay if this fails.
        """
        held, result = len(self._cache.tokens), ABORTED
        if not self._cancel.cancelled:
            result = self._context.evaluate(tokens, held, outputs=outputs)
            if result == EVALUATED:
                self._cache.tokens.extend(tokens)
                return True
            self._cache.recover(tokens, held + len(tokens) - trial)
            if self._speculation is not None:
                self._speculation.roll_back(len(self._cache.tokens))
        if result == ABORTED:
            self.finish = "cancelled"
            return False
        if result == NO_ROOM:
            why = "There was no room left in the KV cache."
        else:
            why = f"llama.cpp could not evaluate the prompt or the answer (result {result})."
        raise EngineFailed(
            "The model stopped in the middle of the answer.",
            why,
            "Ask again; if that does not help, start a new chat.",
        )
