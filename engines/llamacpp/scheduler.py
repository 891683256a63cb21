"""The loop: at each step one evaluation for all answers that are ready, then each of them draws.

A step has the next token of every answer that is being written, with its drafts. What is left of
the batch goes to slices of the prompts that wait, first come, first served; only those of guests
wait for all others. So a long prompt makes no answer wait longer than one slice takes, and an
answer by itself is the case of one. A slice of a picture or a sound comes behind all that in a
call of its own, one in each step.

All steps are run in one thread: OpenMP gives every thread that calls it workers of its own, and
those of several would take each other's processors. Whoever waits for a token has it begin, unless
it works already, and only one at a time works in the context. An answer whose reader has come for
its next token goes on at once with the one just drawn, so that nobody waits until that has become
text. Readers that take their time miss steps, and hold nobody up.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import perf_counter

from engines.llamacpp.context import ABORTED, EVALUATED, AbortFlag, BatchPart, Context
from engines.llamacpp.decoder import Decoding, DrawnRun


class Scheduler:
    """Runs the answers of one context. May be used from any thread; close it before the context.

    flag: ends evaluations of those who watch it, once all answers in them are cancelled.
    """

    def __init__(self, context: Context) -> None:
        self.flag = AbortFlag()
        self._thread = ThreadPoolExecutor(1, "llama.cpp")
        self._thread.submit(self.flag.clear)  # it is there from the load on, and not only later
        self.go_on_in(context)
        self._changed = threading.Condition()
        self._working = False  # somebody works in the context
        self._asking = 0  # how many wait to work there alone
        self._ready: list[Decoding] = []  # in the order in which they came
        self._stepping: Sequence[Decoding] = ()
        self._passed_over: Sequence[Decoding] = ()  # by the present step, for their adapters

    def go_on_in(self, context: Context) -> None:
        """Evaluate in this context from now on; called while nothing is written."""
        self._context = context
        context.watch(self.flag)

    def close(self) -> None:
        """End the thread that runs the steps; called when nothing is written any more."""
        self._thread.shutdown()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Work in the context alone, between two steps; ahead of those who wait for tokens."""
        with self._changed:
            self._asking += 1
            try:
                self._changed.wait_for(lambda: not self._working)
            finally:
                self._asking -= 1
            self._working = True
        try:
            yield
        finally:
            with self._changed:
                self._working = False
                self._changed.notify_all()

    def tokens(
        self,
        answer: Decoding,
        prompt: Sequence[int],
        max_tokens: int | None,
        stable: int | None = None,
    ) -> Generator[int, None, None]:
        """Yield the tokens that continue `prompt`, but not the end marker. See `Decoding.begin`.

        Raises EngineFailed, GrammarInvalid. Whenever it ends, the cache holds the prompt and the
        tokens that were given out, the last of them perhaps not yet, as if there had been no
        drafts; or, where a memory goes back as a whole, those before the last step.
        """
        if max_tokens == 0:
            answer.finish = "length"
            return
        answer.begin(prompt, max_tokens, stable)
        with self._taking_part(answer):
            while (run := self._next_run(answer)) is not None:
                for number in range(len(run.tokens)):
                    token = answer.give(run, number)
                    if number + 1 == len(run.tokens):
                        self._offer(answer, run)
                    yield token
                    if answer.cancel.cancelled:
                        answer.finish = "cancelled"
                        return
                if run.finish is not None:
                    answer.finish = run.finish
                    return
            answer.finish = "cancelled"

    @contextmanager
    def _taking_part(self, answer: Decoding) -> Iterator[None]:
        """Let an answer take part in steps; at the end its cache is as it leaves it."""
        with self._changed:
            self._ready.append(answer)
        forget = answer.cancel.on_cancel(self._on_cancel)
        try:
            yield
        finally:
            forget()
            with self._changed:
                self._changed.wait_for(lambda: answer not in self._stepping)
                if answer in self._ready:
                    self._ready.remove(answer)
            if answer.holds_too_much:
                with self.alone():
                    answer.settle()

    def _next_run(self, answer: Decoding) -> DrawnRun | None:
        """Return the next tokens of an answer; None where a cancel came first.

        Raises what went wrong with this answer.
        """

        def settled() -> bool:
            stops = answer.cancel.cancelled and answer not in self._stepping
            return bool(answer.runs or answer.error or stops)

        def free() -> bool:
            return not self._working and not self._asking

        try:
            while True:
                with self._changed:
                    answer.waits = True
                    self._changed.wait_for(lambda: settled() or free())
                    if settled():
                        break
                    self._thread.submit(self._run_steps, self._begin())
        finally:
            answer.waits = False
        if answer.runs:
            return answer.runs.pop(0)
        if answer.error is not None:
            raise answer.error
        return None

    def _offer(self, answer: Decoding, run: DrawnRun) -> None:
        """Let the last token of a run be gone on from: its reader has it."""
        with self._changed:
            if not run.offered and run.finish is None:
                run.offered = True
                self._ready.append(answer)

    def _begin(self) -> list[Decoding]:
        """Begin a step with all who are ready and have the adapter of who waits longest.

        Those with another one stay, and are then ahead of these. A guest's prompt has no step of
        its own while somebody here waits for theirs.
        """
        ready = [answer for answer in self._ready if not answer.cancel.cancelled]
        waits = any(answer.reads and not answer.guest for answer in ready)
        first = next((it for it in ready if not (waits and it.reads and it.guest)), None)
        adapter = first.adapter if first is not None else ""
        step = [answer for answer in ready if answer.adapter == adapter]
        self._passed_over = [answer for answer in ready if answer.adapter != adapter]
        self._ready = [*self._passed_over]
        self._stepping = step
        self._working = True
        return step

    def _run_steps(self, begun: Sequence[Decoding]) -> None:
        """Run one step after the other, as long as several answers go on at once."""
        step: Sequence[Decoding] | None = begun
        while step is not None:
            try:
                self._run(step)
            except Exception as error:  # noqa: BLE001  raised again where the answers are read
                for answer in step:
                    answer.error = answer.error or error
            step = self._end(step)

    def _end(self, step: Sequence[Decoding]) -> Sequence[Decoding] | None:
        """End a step: who reads a prompt, or has a reader that waits, is ready for the next.

        Returns that, begun. None where others wait for the context, or for one answer by itself:
        its reader may end it, and then nothing has been evaluated that nobody will read.
        """
        with self._changed:
            going_on = []
            for answer in step:
                run, answer.drawn = answer.drawn, None
                if run is not None:
                    answer.runs.append(run)
                if answer.error is not None or answer.cancel.cancelled:
                    continue
                if run is None:
                    going_on.append(answer)
                elif answer.waits and len(run.tokens) == 1 and run.finish is None:
                    run.offered = True
                    answer.waits = False
                    going_on.append(answer)
            # Who has come meanwhile comes behind them, who was passed over before.
            ahead = sum(answer in self._passed_over for answer in self._ready)
            self._ready[ahead:ahead] = going_on
            self._stepping = ()
            self._working = False
            self.flag.clear()
            after = self._begin() if len(going_on) > 1 and not self._asking else None
            self._changed.notify_all()
            return after

    def _run(self, step: Sequence[Decoding]) -> None:
        """Evaluate a part of each answer in one call, and have each draw."""
        if step:
            self._context.adapt(step[0].adapter)
        writing = [answer for answer in step if not answer.reads]
        reading = sorted((answer for answer in step if answer.reads), key=_is_guest)
        looking = [answer for answer in reading if answer.looks]
        reading = [answer for answer in reading if not answer.looks]
        room = self._context.batch_size
        most = room // max(1, len(writing) + bool(reading))
        parts: dict[Decoding, BatchPart] = {}
        began = perf_counter()
        for answer in writing:
            self._ask(answer, most, len(writing) - 1, parts)
        room -= sum(len(part.tokens) for part in parts.values())
        for answer in reading:
            if room:
                self._ask(answer, room, len(writing), parts)
                room -= len(parts[answer].tokens) if answer in parts else 0
        self._evaluate(dict(sorted(parts.items(), key=_sequence)), began)
        if looking:
            # llama.cpp takes either tokens or embeddings in one call.
            began, parts = perf_counter(), {}
            self._ask(looking[0], self._context.batch_size, len(writing), parts)
            self._evaluate(parts, began)

    def _ask(
        self, answer: Decoding, room: int, others: int, parts: dict[Decoding, BatchPart]
    ) -> None:
        """Add an answer's part; what goes wrong with that ends this answer, and no other."""
        try:
            parts[answer] = answer.part(room, others)
        except Exception as error:  # noqa: BLE001  raised again where the answer is read
            answer.error = error

    def _evaluate(self, parts: dict[Decoding, BatchPart], began: float) -> None:
        if not parts:
            return
        asked = perf_counter()
        result = self._context.evaluate_parts([*parts.values()])
        seconds = perf_counter() - asked
        if result == EVALUATED:
            for answer, part in parts.items():
                others = sum(len(other.tokens) for other in parts.values()) - len(part.tokens)
                shared = others >= len(parts)
                try:
                    answer.took(part, began, seconds, shared=shared)
                except Exception as error:  # noqa: BLE001  raised again where it is read
                    answer.error = error
        elif result == ABORTED or len(parts) == 1:
            for answer, part in parts.items():
                answer.drop(part, result)
        else:
            # It may be one of them that llama.cpp cannot evaluate: each is tried by itself.
            for answer, part in parts.items():
                answer.go_back(part)
            for answer in parts:
                alone: dict[Decoding, BatchPart] = {}
                self._ask(answer, self._context.batch_size, 0, alone)
                self._evaluate(alone, began)

    def _on_cancel(self) -> None:
        with self._changed:
            if self._stepping and all(answer.cancel.cancelled for answer in self._stepping):
                self.flag.set()
            self._changed.notify_all()


def _is_guest(answer: Decoding) -> bool:
    return answer.guest


def _sequence(entry: tuple[Decoding, BatchPart]) -> int:
    return entry[1].sequence
