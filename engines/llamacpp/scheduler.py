"""The decoding loop: at each step, one evaluation for all ready answers; then each answer draws.

A step holds the next token of every answer that is being written, with its drafts. The rest of the
batch is filled with slices of waiting prompts, first come, first served; only the prompts of guests
wait for all others. So a long prompt delays no answer by more than the time of one slice. A single
answer is just the case of one. A slice of a picture or a sound comes after all this, in a separate
call, one in each step.

All steps run on one thread: OpenMP gives every calling thread its own workers, and those of several
threads would compete for the processors. A thread that needs a token starts the next step, unless
one is running, and only one thread at a time works in the context. An answer whose reader is
already waiting for its next token continues at once with the token just drawn, so that the next
step does not wait until that token has become text. Slow readers miss steps, but delay no other
answer.
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
    """Runs the answers of one context. Any thread can use it. Close it before the context.

    Attributes:
        flag: Aborts the evaluations of contexts that watch it, once all answers in them are
            cancelled.
    """

    def __init__(self, context: Context) -> None:
        self.flag = AbortFlag()
        self._thread = ThreadPoolExecutor(1, "llama.cpp")
        self._thread.submit(self.flag.clear)  # this starts the thread during the load
        self.go_on_in(context)
        self._changed = threading.Condition()
        self._working = False  # whether a thread works in the context
        self._asking = 0  # number of threads that wait to work there alone
        self._ready: list[Decoding] = []  # in order of arrival
        self._stepping: Sequence[Decoding] = ()
        self._passed_over: Sequence[Decoding] = ()  # by the current step, because of their adapters

    def go_on_in(self, context: Context) -> None:
        """Evaluate in this context from now on; call it only while no answer is written."""
        self._context = context
        context.watch(self.flag)

    def close(self) -> None:
        """End the thread that runs the steps; call it when no answer is written any more."""
        self._thread.shutdown()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Work in the context alone, between two steps, ahead of threads that wait for tokens."""
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
        """Yield the tokens that continue `prompt`, without the end token. See `Decoding.begin`.

        Whenever it ends, the cache holds the prompt and the tokens that were given out, except
        perhaps the last one, as if there had been no drafts. If the memory can only be restored as
        a whole, the cache may hold only the tokens from before the last step.

        Raises:
            EngineFailed: llama.cpp could not evaluate the prompt or the answer.
            GrammarInvalid: The grammar allows no token, or is too costly to follow.
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
        """Let an answer take part in steps, and leave its cache settled at the end."""
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
        """Return the next tokens of an answer; None if it was cancelled first.

        Raises the error of this answer, if there is one.
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
        """Let the next step continue from the last token of a run, which its reader has now."""
        with self._changed:
            if not run.offered and run.finish is None:
                run.offered = True
                self._ready.append(answer)

    def _begin(self) -> list[Decoding]:
        """Start a step with all ready answers that have the adapter of the longest-waiting one.

        Answers with another adapter stay ready, and are then ahead of these. A guest's prompt gets
        no step of its own while the prompt of an ordinary answer waits.
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
        """Run steps one after the other, as long as several answers continue at once."""
        step: Sequence[Decoding] | None = begun
        while step is not None:
            try:
                self._run(step)
            except Exception as error:  # noqa: BLE001  raised again where the answers are read
                for answer in step:
                    answer.error = answer.error or error
            step = self._end(step)

    def _end(self, step: Sequence[Decoding]) -> Sequence[Decoding] | None:
        """End a step; answers with more prompt to read, or with a waiting reader, are ready again.

        Returns:
            The answers of the next step, which has begun. None if another thread waits for the
            context, or if only one answer continues: its reader may end it, and then no evaluation
            is wasted.
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
            # They go before answers that arrived meanwhile, and after those that were passed over.
            ahead = sum(answer in self._passed_over for answer in self._ready)
            self._ready[ahead:ahead] = going_on
            self._stepping = ()
            self._working = False
            self.flag.clear()
            after = self._begin() if len(going_on) > 1 and not self._asking else None
            self._changed.notify_all()
            return after

    def _run(self, step: Sequence[Decoding]) -> None:
        """Evaluate a part of each answer in one call, and let each answer draw."""
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
            # One call of llama.cpp takes either tokens or embeddings.
            began, parts = perf_counter(), {}
            self._ask(looking[0], self._context.batch_size, len(writing), parts)
            self._evaluate(parts, began)

    def _ask(
        self, answer: Decoding, room: int, others: int, parts: dict[Decoding, BatchPart]
    ) -> None:
        """Add an answer's part; an error while making it ends only this answer."""
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
            # Perhaps llama.cpp cannot evaluate one of them, so each is tried separately.
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
