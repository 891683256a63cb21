"""One answer in the decoding loop: evaluate its prompt, then draw, evaluate and draw again.

`engines.llamacpp.scheduler` runs the loop, for one answer or for many. At each step, it asks every
answer for its part of one evaluation, and lets the answer draw from the logits.

A part without drafts is the last drawn token, and the next token is drawn from its logits. A part
with k drafts is that token plus the drafts, which gives k + 1 rows of logits. Tokens are drawn from
one row after the other, as long as each drawn token equals the draft at that place: then the next
row is the same as it would be without drafts. The first token that differs ends the step, but it
was still drawn from the model's own distribution. So every token of the answer is drawn by the
model's whole sampler chain from the model's own logits; drafts only decide how many tokens a step
gives.

For a draft that is a single certain token, this is exactly the rejection rule of speculative
sampling: the draft is kept with the probability that the model gives it, and otherwise the token is
drawn from the remaining distribution. Source: Leviathan, Kalman and Matias, "Fast inference from
transformers via speculative decoding", 2023.

Some recurrent states can only be restored as a whole, to the point before a step (`KvCache.mark`).
Then the tokens of the step that stay before a rejected draft are evaluated again, in one call with
the next token.
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
from engines.sentences import N_
from engines.types import FinishReason, PromptProgress

_SHORT: Final = 32
"""Number of prompt tokens that take hardly longer to evaluate than one extra call."""


@dataclass
class DrawnRun:
    """The tokens that one step drew for an answer.

    Attributes:
        tokens: The tokens.
        first: The index of the first token in the sequence; the cache can hold all but the last.
        finish: The reason why the answer ends with these tokens; None if it continues.
        offered: Whether the last token can already be evaluated.
    """

    tokens: list[int]
    first: int
    finish: FinishReason | None
    offered: bool = False


class Decoding:
    """An answer that is decoded through its parts of successive evaluations.

    `Scheduler.tokens` yields the tokens. The other methods are for the scheduler, which calls them
    while no other thread works in the context.

    Args:
        context: The context that evaluates the answer.
        cache: The KV cache of the answer's sequence.
        vocabulary: The model's vocabulary.
        sampler: Draws the tokens.
        speculation: Drafts for this answer; None for no drafts.
        cancel: Ends the answer.
        guest: Whether the prompts of other answers are read before this one.
        stop_tokens: Tokens that end the answer, in addition to the vocabulary's own end tokens.
        judge: Receives the logits of the whole prompt; the cache must then hold no part of the
            prompt.

    Attributes:
        finish: The reason why the answer ended, once it has ended.
        prefill_s: Seconds spent on the prompt.
        decode_s: Seconds spent on all tokens after the first, including drafting.
        evaluated: Number of prompt tokens evaluated in `prefill_s`.
        decoded: Number of tokens drawn in `decode_s`.
        first_token_at: Time of the first drawn token, by `time.perf_counter`; 0 if none was drawn.
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
        self.drawn: DrawnRun | None = None  # in the current step
        self.runs: list[DrawnRun] = []  # from finished steps, not yet taken; two at most
        self.awaited = False  # a thread waits for the next run
        self.progress: PromptProgress | None = None  # not yet taken
        self.error: Exception | None = None
        self._overhead_s = 0.0  # seconds spent on drafts outside a step since the last `learn`
        self._pending: list[int] = []  # must be evaluated before the next token can be drawn
        self._stops: list[int] = []  # lengths of the sequence at which an evaluation must end
        self._latest: DrawnRun | None = None
        self._delivered = 0  # the length of the prompt plus the tokens that were given out
        self._left = 0  # number of tokens that may still be drawn
        self._last_row = 0  # this answer's last row in the last evaluation that included it
        self._began = self._proposed_s = 0.0
        self._read_at = self._pace = 0.0  # time of the last part of the prompt; seconds per token

    def begin(
        self, prompt: Sequence[int], max_tokens: int | None, stable: int | None = None
    ) -> None:
        """Start to continue `prompt`, of which the cache holds the beginning.

        Args:
            prompt: The tokens of the prompt.
            max_tokens: The most tokens to draw, at least one; None for no limit.
            stable: Number of tokens that the next prompt will certainly begin with, too; None for
                all.
        """
        self._read(prompt, len(prompt) if stable is None else stable)
        self._left = max_tokens or maxsize

    def encode_media(self, media: PromptMedia, cached: int) -> None:
        """Encode the pictures and sounds of the prompt that come after its first `cached` tokens.

        This takes as long as a long prompt does, and no step of the loop waits for it.

        Raises:
            MediumUnreadable: A picture or a sound cannot be read.
            EngineFailed: The encoder failed.
        """
        began = perf_counter()
        self._media = media
        media.prepare(cached, self.cancel)
        self.prefill_s += perf_counter() - began

    def deliver(self, run: DrawnRun, number: int) -> int:
        """Return token `number` of a run, counted from 0, and note that it was given out."""
        self._delivered = run.first + number + 1
        return run.tokens[number]

    @property
    def adapter(self) -> str:
        """The name of the LoRA adapter to evaluate with; "" for none."""
        return self._cache.adapter

    @property
    def has_prompt_left(self) -> bool:
        """True if some of the prompt must be evaluated before a token can be drawn."""
        return bool(self._stops)

    @property
    def next_is_medium(self) -> bool:
        """True if the next part is a picture or a sound, which is evaluated separately."""
        return bool(self._stops) and is_cell(self._pending[0])

    def part(self, room: int, other_answers: int) -> BatchPart:
        """Return this answer's part of the next evaluation.

        Args:
            room: The most tokens that the part may have.
            other_answers: Number of other answers that are written in the same evaluation.
        """
        began = perf_counter()
        drafts: Sequence[int] = ()
        cached = len(self._cache.tokens)
        if self._stops:
            if not (self.next_is_medium and cached and is_cell(self._cache.tokens[-1])):
                self._cache.save_snapshot()  # nothing continues from the middle of a picture
            return self._slice(min(room, self._stops[0] - cached), cached)
        run = self._latest
        if run is None:
            raise RuntimeError("there is no token to go on from")
        place = run.first + len(run.tokens) - 1
        self._pending = again = [*self._cut(place), run.tokens[-1]]
        cached = len(self._cache.tokens)
        if self._speculation is not None:
            self._speculation.set_other_answers(other_answers)
            repeated, size = len(again) - 1, self._context.size
            most = min(self._context.drafts - repeated, room - len(again), size - place - 1)
            most = max(0, min(most, self._left - 1))
            drafts = self._speculation.propose(run.tokens[-1], place, most, repeated)
            drafts = text_before(drafts)
            if drafts:
                self._cache.mark()
        self._proposed_s = perf_counter() - began
        tokens, position = (*again, *drafts), self._cache.position
        return BatchPart(tokens, cached, 1 + len(drafts), self.sequence, position)

    def _slice(self, room: int, cached: int) -> BatchPart:
        """Return the next slice of the prompt, either text or part of a picture or a sound."""
        encoded = None
        if self.next_is_medium and self._media is not None:
            encoded = self._media.at(cached)
            room = self._context.batch_size
            count = min(encoded.start + encoded.count - cached, room)
            tokens = self._pending[:count]
        else:
            if self._judge is not None:
                room = min(room, 1 + self._context.drafts)  # room for so many rows of logits
            tokens = text_before(self._pending[:room])
        outputs = int(len(tokens) == len(self._pending))
        if self._judge is not None:
            outputs = len(tokens)
        position = self._cache.position
        return BatchPart(tokens, cached, outputs, self.sequence, position, encoded)

    def draw_from(self, part: BatchPart, began: float, evaluated_s: float, *, shared: bool) -> None:
        """Draw from the logits of an evaluation that included `part` of this answer.

        Args:
            part: This answer's part of the evaluation.
            began: Start of the step, by `time.perf_counter`.
            evaluated_s: Seconds that the evaluation took.
            shared: Whether the evaluation held more tokens of other answers than one each.
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
                drafts, run, self._proposed_s, step_s, self._overhead_s, shared=shared
            )
            self._overhead_s = perf_counter() - ended
        self.decode_s += ended - began + self._overhead_s
        self.decoded += len(run)
        self._note(run, place)

    def fail(self, part: BatchPart, result: int) -> None:
        """Give up after an evaluation that included `part` of this answer was aborted or failed."""
        self._recover(part)
        if result == ABORTED:
            return
        if result == NO_ROOM:
            why = N_("There was no room left in the KV cache.")
        else:
            why = N_(
                "llama.cpp could not evaluate the prompt or the answer (result {result}).",
                result=result,
            )
        self.error = EngineFailed(
            N_("The model stopped in the middle of the answer."),
            why,
            N_("Ask again; if that does not help, start a new chat."),
        )

    def rewind(self, part: BatchPart) -> None:
        """Go back to before a failed evaluation that included `part`, to try it again."""
        rest = self._pending[len(part.tokens) :]
        known = [*self._cache.tokens, *part.tokens[: len(self._pending)]]
        self._recover(part)
        self._pending = [*known[len(self._cache.tokens) :], *rest]
        self._stops = self._stops or [len(known)]

    @property
    def has_extra_tokens(self) -> bool:
        """True if the cache holds more tokens than an answer that ends here leaves in it."""
        return self._speculation is not None and self._end() < len(self._cache.tokens)

    def trim_cache(self) -> None:
        """Cut the cache to the tokens that an answer that ends here leaves in it."""
        self._cut(self._end())

    def _end(self) -> int:
        """Return how many tokens of an answer that ends here may stay in the cache."""
        run, delivered = self._latest, self._delivered
        if run is None or self.error is not None:
            return len(self._cache.tokens)
        # Whether the last token that was given out was evaluated, too, or is followed by the end.
        followed = run.first >= delivered or (
            run.finish == "stop" and delivered == run.first + len(run.tokens)
        )
        return delivered if followed else delivered - 1

    def _read(self, prompt: Sequence[int], stable: int) -> None:
        """Note which tokens of a prompt must be evaluated, and where evaluations must end.

        If the memory cannot go back, the last token is evaluated alone: with a state snapshot
        before it, another answer to the same prompt costs one token. If the next prompt will lack
        the last tokens, where the reasoning begins, all of those are evaluated separately. For a
        model with a sliding window, a short part is simply evaluated again, which takes less time
        than an extra call each time.
        """
        self._began = self._read_at = perf_counter()
        cached, length = len(self._cache.tokens), len(prompt)
        separately = self._cache.recurrent or length - cached > _SHORT
        end = length
        if self._cache.needs_snapshots and (separately or stable < length):
            end = max(cached, whole_length(prompt, min(stable, length - 1)))
        self._stops = [stop for stop in dict.fromkeys((end, length)) if stop > cached]
        self._pending = list(prompt[cached:])
        self._delivered = length

    def _have_read(self, part: BatchPart, *, whole: bool) -> None:
        del self._pending[: len(part.tokens)]
        cached = len(self._cache.tokens)
        self._stops = [stop for stop in self._stops if stop > cached]
        if self._speculation is not None:
            self._speculation.observe(part.tokens, part.start)
        if not self.first_token_at:
            self.evaluated += len(part.tokens)
            self._note_progress(len(part.tokens))
        if whole and not self.first_token_at:
            if self._speculation is not None:
                self._speculation.prepare()
            self.prefill_s += perf_counter() - self._began

    def _note_progress(self, count: int) -> None:
        """Note how far the prompt is read, after `count` more tokens of it.

        The time left follows the last few parts, as tokens further on take longer.
        """
        now = perf_counter()
        pace = (now - self._read_at) / count
        self._pace = (self._pace + pace) / 2 if self._pace else pace
        self._read_at = now
        left = len(self._pending)
        cached = len(self._cache.tokens)
        self.progress = PromptProgress(cached, cached + left, left * self._pace) if left else None

    def _draw(self, drafts: Sequence[int]) -> list[int]:
        """Draw tokens from the answer's last rows, up to the first that differs from its draft."""
        draw, context, run = self._sampler.draw, self._context, list[int]()
        try:
            for row, draft in enumerate(drafts, self._last_row - len(drafts)):
                run.append(draw(context, row))
                if run[-1] != draft or self._ends(draft):
                    return run
            run.append(draw(context, self._last_row))
        except GrammarInvalid:
            # The tokens drawn before are given out first; the next step raises the same error.
            if not run:
                raise
        return run

    def _note(self, drawn: list[int], first: int) -> None:
        """Note the drawn tokens up to the end of the answer; `first` is the index of the first."""
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
        """Drop the trial tokens that do not belong to the first `length` tokens.

        Returns:
            The last of these first tokens, as far as they are no longer held either.
        """
        if self._speculation is None or length >= len(self._cache.tokens):
            return []
        began = perf_counter()
        again = self._cache.roll_back(length)
        self._speculation.roll_back(length)
        spent = perf_counter() - began
        self._overhead_s += spent
        self.decode_s += spent
        return again

    def _recover(self, part: BatchPart) -> None:
        drafts = max(0, part.outputs - 1)
        self._cache.recover(part.tokens, part.start + len(part.tokens) - drafts)
        if self._speculation is not None:
            self._speculation.roll_back(len(self._cache.tokens))
