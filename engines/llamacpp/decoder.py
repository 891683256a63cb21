"""An answer in the loop: evaluate its prompt, then draw, evaluate and draw again.

`engines.llamacpp.scheduler` runs the loop, for one answer or for many. At each step it asks every
answer for its part of one evaluation, and lets it draw from the logits.

A part without drafts is the token drawn last, after which the next one is drawn. A part with k
drafts is that token and the drafts, which gives k + 1 rows of logits. Tokens are drawn
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

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from sys import maxsize
from time import perf_counter
from typing import Final

from engines.cancel import CancelToken
from engines.errors import EngineFailed, GrammarInvalid
from engines.llamacpp.cache import KvCache
from engines.llamacpp.cells import is_cell, text_before, whole_length
from engines.llamacpp.context import ABORTED, NO_ROOM, BatchPart, Context
from engines.llamacpp.logprobs import PromptJudge
from engines.llamacpp.prompt_media import PromptMedia
from engines.llamacpp.sampling import Sampler
from engines.llamacpp.speculative.speculation import Speculation
from engines.llamacpp.vocabulary import Vocabulary
from engines.types import FinishReason

_SHORT: Final = 32
"""Tokens of a prompt that take hardly longer to evaluate than one more call."""


@dataclass
class DrawnRun:
    """The tokens that a step gave an answer.

    first: the place of the first in the sequence; the cache may hold all but the last. finish: why
    the answer ends with them, None if it goes on. offered: the last may be evaluated.
    """

    tokens: list[int]
    first: int
    finish: FinishReason | None
    offered: bool = False


class Decoding:
    """An answer being decoded, a part of one evaluation after the other.

    `Scheduler.tokens` yields its tokens. All else that it does is for the scheduler, which calls it
    while nobody else works in the context.

    speculation: what drafts for this answer, None if nothing does.
    guest: its prompt is read behind those of others. stop_tokens: end it, beside the vocabulary's
    own. judge: is told the logits of the whole prompt, none of which the cache may hold then.
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
        *,
        guest: bool = False,
        stop_tokens: Collection[int] = (),
        judge: PromptJudge | None = None,
    ) -> None:
        self._stop_tokens = frozenset(stop_tokens)
        self._judge = judge
        self._context = context
        self._cache = cache
        self._vocabulary = vocabulary
        self._sampler = sampler
        self._speculation = speculation
        self.cancel = cancel
        self._media: PromptMedia | None = None
        self.guest = guest
        self.sequence = cache.sequence
        self.finish: FinishReason = "stop"
        self.prefill_s = self.decode_s = self.first_token_at = 0.0
        self.evaluated = self.decoded = 0
        self.drawn: DrawnRun | None = None  # in the present step
        self.runs: list[DrawnRun] = []  # of steps that have ended, not taken yet: two at most
        self.waits = False  # somebody waits for the next run
        self.error: Exception | None = None
        self._beside_s = 0.0  # spent on drafts since the last step was told, and not in a step
        self._pending: list[int] = []  # to be evaluated before the next token can be drawn
        self._stops: list[int] = []  # lengths of the sequence at which an evaluation has to end
        self._latest: DrawnRun | None = None
        self._given = 0  # the length of the prompt and of what was given out
        self._left = 0  # tokens that may still be drawn
        self._last_row = 0  # of this answer, in the last evaluation that had some of it
        self._began = self._proposed_s = 0.0

    def begin(
        self, prompt: Sequence[int], max_tokens: int | None, stable: int | None = None
    ) -> None:
        """Begin to continue `prompt`, whose beginning the cache holds.

        max_tokens: at least one; None sets no limit. stable: how many tokens of it the next prompt
        will surely begin with; None for all.
        """
        self._read(prompt, len(prompt) if stable is None else stable)
        self._left = max_tokens or maxsize

    def look(self, media: PromptMedia, held: int) -> None:
        """Encode the pictures and sounds of the prompt behind its first `held` tokens.

        It takes as long as a long prompt, and no step of the loop waits for it. Raises
        MediumUnreadable, EngineFailed.
        """
        began = perf_counter()
        self._media = media
        media.prepare(held, self.cancel)
        self.prefill_s += perf_counter() - began

    def give(self, run: DrawnRun, number: int) -> int:
        """Give out token `number` of a run, counted from 0."""
        self._given = run.first + number + 1
        return run.tokens[number]

    @property
    def adapter(self) -> str:
        """The LoRA adapter to evaluate with, "" for none."""
        return self._cache.adapter

    @property
    def reads(self) -> bool:
        """Whether a prompt is to be evaluated before there is a token to draw."""
        return bool(self._stops)

    @property
    def looks(self) -> bool:
        """Whether its next part is one of a picture or a sound, which is evaluated by itself."""
        return bool(self._stops) and is_cell(self._pending[0])

    def part(self, room: int, others: int) -> BatchPart:
        """Return what the next evaluation shall have of this answer.

        room: most tokens of it. others: answers that are written in the same evaluation.
        """
        began = perf_counter()
        drafts: Sequence[int] = ()
        held = len(self._cache.tokens)
        if self._stops:
            if not (self.looks and held and is_cell(self._cache.tokens[-1])):
                self._cache.checkpoint()  # nothing goes on from the middle of a picture
            return self._slice(min(room, self._stops[0] - held), held)
        run = self._latest
        if run is None:
            raise RuntimeError("there is no token to go on from")
        place = run.first + len(run.tokens) - 1
        self._pending = again = [*self._cut(place), run.tokens[-1]]
        held = len(self._cache.tokens)
        if self._speculation is not None:
            self._speculation.run_beside(others)
            repeated, size = len(again) - 1, self._context.size
            most = min(self._context.drafts - repeated, room - len(again), size - place - 1)
            most = max(0, min(most, self._left - 1))
            drafts = self._speculation.propose(run.tokens[-1], place, most, repeated)
            drafts = text_before(drafts)
            if drafts:
                self._cache.mark()
        self._proposed_s = perf_counter() - began
        tokens, position = (*again, *drafts), self._cache.position
        return BatchPart(tokens, held, 1 + len(drafts), self.sequence, position)

    def _slice(self, room: int, held: int) -> BatchPart:
        """Return the next slice of the prompt: of its text, or of a picture or a sound."""
        encoded = None
        if self.looks and self._media is not None:
            encoded = self._media.at(held)
            room = self._context.batch_size
            count = min(encoded.start + encoded.count - held, room)
            tokens = self._pending[:count]
        else:
            if self._judge is not None:
                room = min(room, 1 + self._context.drafts)  # rows of logits that there is room for
            tokens = text_before(self._pending[:room])
        outputs = int(len(tokens) == len(self._pending))
        if self._judge is not None:
            outputs = len(tokens)
        position = self._cache.position
        return BatchPart(tokens, held, outputs, self.sequence, position, encoded)

    def took(self, part: BatchPart, began: float, evaluated_s: float, *, shared: bool) -> None:
        """Draw from the logits of an evaluation that had `part` of this answer.

        began: when the step did, by `time.perf_counter`. evaluated_s: what evaluating took.
        shared: there was more in it than a token of each other answer.
        """
        self._cache.tokens.extend(part.tokens)
        self._last_row = self._context.first_row(self.sequence) + len(part.tokens) - 1
        if self._stops:
            if self._judge is not None:
                first = self._context.first_row(self.sequence)
                self._judge.judge(self._context, first, part.start, len(part.tokens))
            whole = len(part.tokens) == len(self._pending)
            self._have_read(part, whole=whole)
            if whole:
                self._note(self._draw(()), len(self._cache.tokens))
                self.first_token_at = self.first_token_at or perf_counter()
            return
        drafts = part.tokens[len(self._pending) :]
        drawing, place = perf_counter(), part.start + len(self._pending)
        try:
            run = self._draw(drafts)
        except BaseException:
            self._cut(place)
            raise
        ended = perf_counter()
        if self._speculation is not None:
            self._speculation.observe((*self._pending, *run[:-1]), part.start)
            step_s = evaluated_s + ended - drawing
            self._speculation.learn(
                drafts, run, self._proposed_s, step_s, self._beside_s, shared=shared
            )
            self._beside_s = perf_counter() - ended
        self.decode_s += ended - began + self._beside_s
        self.decoded += len(run)
        self._note(run, place)

    def drop(self, part: BatchPart, result: int) -> None:
        """Give up after an evaluation that had `part` of it was aborted, or failed."""
        self._recover(part)
        if result == ABORTED:
            return
        if result == NO_ROOM:
            why = "There was no room left in the KV cache."
        else:
            why = f"llama.cpp could not evaluate the prompt or the answer (result {result})."
        self.error = EngineFailed(
            "The model stopped in the middle of the answer.",
            why,
            "Ask again; if that does not help, start a new chat.",
        )

    def go_back(self, part: BatchPart) -> None:
        """Go back to before an evaluation that had `part` of it and failed, to try it again."""
        rest = self._pending[len(part.tokens) :]
        known = [*self._cache.tokens, *part.tokens[: len(self._pending)]]
        self._recover(part)
        self._pending = [*known[len(self._cache.tokens) :], *rest]
        self._stops = self._stops or [len(known)]

    @property
    def holds_too_much(self) -> bool:
        """Whether the cache has more than an answer that ends here leaves there."""
        return self._speculation is not None and self._end() < len(self._cache.tokens)

    def settle(self) -> None:
        """Leave the cache as an answer that ends here leaves it."""
        self._cut(self._end())

    def _end(self) -> int:
        """Return how many tokens the cache may have of an answer that ends here."""
        run, given = self._latest, self._given
        if run is None or self.error is not None:
            return len(self._cache.tokens)
        # Whether the last token that was given out was evaluated, too, or is followed by an end.
        followed = run.first >= given or (
            run.finish == "stop" and given == run.first + len(run.tokens)
        )
        return given if followed else given - 1

    def _read(self, prompt: Sequence[int], stable: int) -> None:
        """Note what of a prompt is to be evaluated, and where evaluations have to end.

        Where the memory cannot go back, the last token comes alone: with a checkpoint before it,
        another answer to the same prompt costs one token. If the next prompt will not have the
        last ones, where the reasoning begins, all of those do. A short part of a model with a
        window is rather evaluated again, which takes less time than one more call each time.
        """
        self._began = perf_counter()
        held, length = len(self._cache.tokens), len(prompt)
        alone = self._cache.recurrent or length - held > _SHORT
        end = length
        if self._cache.needs_checkpoints and (alone or stable < length):
            end = max(held, whole_length(prompt, min(stable, length - 1)))
        self._stops = [stop for stop in dict.fromkeys((end, length)) if stop > held]
        self._pending = list(prompt[held:])
        self._given = length

    def _have_read(self, part: BatchPart, *, whole: bool) -> None:
        del self._pending[: len(part.tokens)]
        held = len(self._cache.tokens)
        self._stops = [stop for stop in self._stops if stop > held]
        if self._speculation is not None:
            self._speculation.observe(part.tokens, part.start)
        if not self.first_token_at:
            self.evaluated += len(part.tokens)
        if whole and not self.first_token_at:
            if self._speculation is not None:
                self._speculation.prepare()
            self.prefill_s += perf_counter() - self._began

    def _draw(self, drafts: Sequence[int]) -> list[int]:
        """Draw tokens from the last rows of the answer, up to the first that is not as drafted."""
        draw, context, run = self._sampler.draw, self._context, list[int]()
        try:
            for row, draft in enumerate(drafts, self._last_row - len(drafts)):
                run.append(draw(context, row))
                if run[-1] != draft or self._ends(draft):
                    return run
            run.append(draw(context, self._last_row))
        except GrammarInvalid:
            # What was drawn before leaves first; the next step comes to the same end.
            if not run:
                raise
        return run

    def _note(self, drawn: list[int], first: int) -> None:
        """Note what was drawn, as far as the answer goes; the first of it has the place `first`."""
        run = DrawnRun(drawn, first, None)
        for number, token in enumerate(drawn):
            if self._ends(token):
                run = DrawnRun(drawn[:number], first, "stop")
                break
            self._left -= 1
            if not self._left or first + number >= self._context.size:
                run = DrawnRun(drawn[: number + 1], first, "length")
                break
        self._latest = self.drawn = run

    def _ends(self, token: int) -> bool:
        return token in self._stop_tokens or self._vocabulary.ends_generation(token)

    def _cut(self, length: int) -> list[int]:
        """Drop what was evaluated on trial and has no place among the first `length` tokens.

        Returns the last of these that are no longer held either.
        """
        if self._speculation is None or length >= len(self._cache.tokens):
            return []
        began = perf_counter()
        again = self._cache.roll_back(length)
        self._speculation.roll_back(length)
        spent = perf_counter() - began
        self._beside_s += spent
        self.decode_s += spent
        return again

    def _recover(self, part: BatchPart) -> None:
        drafts = max(0, part.outputs - 1)
        self._cache.recover(part.tokens, part.start + len(part.tokens) - drafts)
        if self._speculation is not None:
            self._speculation.roll_back(len(self._cache.tokens))
