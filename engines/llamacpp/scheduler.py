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
from engines.types import PromptProgress


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
        self.use_context(context)
        self._changed = threading.Condition()
        self._working = False  # whether a thread works in the context
        self._waiting_to_work = 0  # number of threads that wait to work there alone
        self._ready: list[Decoding] = []  # in order of arrival
        self._stepping: Sequence[Decoding] = ()
        self._skipped: Sequence[Decoding] = ()  # by the current step, because of their adapters

    def use_context(self, context: Context) -> None:
        """Evaluate in this context from now on; call it only while no answer is written."""
        self._context = context
        context.watch(self.flag)

    def close(self) -> None:
        """End the thread that runs the steps; call it when no answer is written any more."""
        self._thread.shutdown()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Work in the context alone, between two steps, ahead of threads that wait for tokens."""
        with self._changed:
            self._waiting_to_work += 1
            try:
                self._changed.wait_for(lambda: not self._working)
            finally:
                self._waiting_to_work -= 1
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
    ) -> Generator[int | PromptProgress, None, None]:
        """Yield the tokens that continue `prompt`, without the end token. See `Decoding.begin`.

        Before them, the progress of reading a prompt that takes several steps.

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
        with self._participating(answer):
            while (run := self._next_run(answer)) is not None:
                if isinstance(run, PromptProgress):
                    yield run
                    continue
                for number in range(len(run.tokens)):
                    token = answer.deliver(run, number)
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
    def _participating(self, answer: Decoding) -> Iterator[None]:
        """Let an answer take part in steps, and leave its cache settled at the end."""
        with self._changed:
            self._ready.append(answer)
        unregister = answer.cancel.on_cancel(self._on_cancel)
        try:
            yield
        finally:
            unregister()
            with self._changed:
                self._changed.wait_for(lambda: answer not in self._stepping)
                if answer in self._ready:
                    self._ready.remove(answer)
            if answer.has_extra_tokens:
                with self.exclusive():
                    answer.trim_cache()

    def _next_run(self, answer: Decoding) -> DrawnRun | PromptProgress | None:
        """Return the next tokens of an answer, or how far its prompt has been read meanwhile.

        The next step begins before progress is returned, so that no step waits for its reader.

        Returns:
            None if the answer was cancelled first.

        Raises the error of this answer, if there is one.
        """

        def settled() -> bool:
            stops = answer.cancel.cancelled and answer not in self._stepping
            return bool(answer.runs or answer.error or stops)

        def free() -> bool:
            return not self._working and not self._waiting_to_work

        try:
            while True:
                with self._changed:
                    answer.awaited = True
                    self._changed.wait_for(lambda: settled() or answer.progress or free())
                    if settled():
                        break
                    if free():
                        self._thread.submit(self._run_steps, self._begin())
                    progress, answer.progress = answer.progress, None
                    if progress is not None:
                        return progress
        finally:
            answer.awaited = False
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
        waits = any(answer.has_prompt_left and not answer.guest for answer in ready)
        first = next(
            (answer for answer in ready if not (waits and answer.has_prompt_left and answer.guest)),
            None,
        )
        adapter = first.adapter if first is not None else ""
        step = [answer for answer in ready if answer.adapter == adapter]
        self._skipped = [answer for answer in ready if answer.adapter != adapter]
        self._ready = [*self._skipped]
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
            continuing = []
            for answer in step:
                run, answer.drawn = answer.drawn, None
                if run is not None:
                    answer.runs.append(run)
                if answer.error is not None or answer.cancel.cancelled:
                    continue
                if run is None:
                    continuing.append(answer)
                elif answer.awaited and len(run.tokens) == 1 and run.finish is None:
                    run.offered = True
                    answer.awaited = False
                    continuing.append(answer)
            # They go before answers that arrived meanwhile, and after those that were passed over.
            ahead = sum(answer in self._skipped for answer in self._ready)
            self._ready[ahead:ahead] = continuing
            self._stepping = ()
            self._working = False
            self.flag.clear()
            next_step = self._begin() if len(continuing) > 1 and not self._waiting_to_work else None
            self._changed.notify_all()
            return next_step

    def _run(self, step: Sequence[Decoding]) -> None:
        """Evaluate a part of each answer in one call, and let each answer draw."""
        if step:
            self._context.adapt(step[0].adapter)
        writing = [answer for answer in step if not answer.has_prompt_left]
        with_prompt = sorted((answer for answer in step if answer.has_prompt_left), key=_is_guest)
        with_medium = [answer for answer in with_prompt if answer.next_is_medium]
        with_prompt = [answer for answer in with_prompt if not answer.next_is_medium]
        room = self._context.batch_size
        most = room // max(1, len(writing) + bool(with_prompt))
        parts: dict[Decoding, BatchPart] = {}
        began = perf_counter()
        for answer in writing:
            self._add_part(answer, most, len(writing) - 1, parts)
        room -= sum(len(part.tokens) for part in parts.values())
        for answer in with_prompt:
            if room:
                self._add_part(answer, room, len(writing), parts)
                room -= len(parts[answer].tokens) if answer in parts else 0
        self._evaluate(dict(sorted(parts.items(), key=_sequence)), began)
        if with_medium:
            # One call of llama.cpp takes either tokens or embeddings.
            began, parts = perf_counter(), {}
            self._add_part(with_medium[0], self._context.batch_size, len(writing), parts)
            self._evaluate(parts, began)

    def _add_part(
        self, answer: Decoding, room: int, other_answers: int, parts: dict[Decoding, BatchPart]
    ) -> None:
        """Add an answer's part; an error while making it ends only this answer."""
        try:
            parts[answer] = answer.part(room, other_answers)
        except Exception as error:  # noqa: BLE001  raised again where the answer is read
            answer.error = error

    def _evaluate(self, parts: dict[Decoding, BatchPart], began: float) -> None:
        if not parts:
            return
        started = perf_counter()
        result = self._context.evaluate_parts([*parts.values()])
        seconds = perf_counter() - started
        if result == EVALUATED:
            for answer, part in parts.items():
                other_tokens = sum(len(other.tokens) for other in parts.values()) - len(part.tokens)
                shared = other_tokens >= len(parts)
                try:
                    answer.draw_from(part, began, seconds, shared=shared)
                except Exception as error:  # noqa: BLE001  raised again where it is read
                    answer.error = error
        elif result == ABORTED or len(parts) == 1:
            for answer, part in parts.items():
                answer.fail(part, result)
        else:
            # Perhaps llama.cpp cannot evaluate one of them, so each is tried separately.
            for answer, part in parts.items():
                answer.rewind(part)
            for answer in parts:
                single: dict[Decoding, BatchPart] = {}
                self._add_part(answer, self._context.batch_size, 0, single)
                self._evaluate(single, began)

    def _on_cancel(self) -> None:
        with self._changed:
            if self._stepping and all(answer.cancel.cancelled for answer in self._stepping):
                self.flag.set()
            self._changed.notify_all()


def _is_guest(answer: Decoding) -> bool:
    return answer.guest


def _sequence(entry: tuple[Decoding, BatchPart]) -> int:
    return entry[1].sequence
