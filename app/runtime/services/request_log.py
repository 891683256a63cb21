"""Records what each request to an engine took, from the window and from other programs."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from app.runtime.values.request_records import (
    SPAN_S,
    Histogram,
    Operation,
    RequestEnd,
    RequestRecord,
    SampledAs,
    TokenCounts,
    Totals,
    WaitingRequest,
    public_name,
)
from engines.errors import Cancelled, EngineError
from engines.types import (
    Done,
    MtpReport,
    PromptReady,
    Ranking,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    Vectors,
)

if TYPE_CHECKING:
    from app.models.library.values.entry import ModelEntry
    from engines.types import ChatRequest, EngineName, Event

_MOST_KEPT: Final = 5_000

Found = TypeVar("Found", Vectors, Ranking)

Ended = Callable[[RequestRecord], None]
"""Called with each request that has ended, on the thread that made it; must not block."""


class RequestLog:
    """Counts all requests. Safe from any thread."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, clock: Callable[[], float] = time.time
    ) -> None:
        """Begin with no requests.

        Args:
            now: A monotonic clock, in seconds.
            clock: A clock in seconds since 1970.
        """
        self.now = now
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: set[Admission] = set()
        self._running: set[RunningRequest] = set()
        self._ended: deque[RequestRecord] = deque(maxlen=_MOST_KEPT)
        self._totals: dict[tuple[str, EngineName], Totals] = {}
        self._reported: dict[tuple[str, EngineName], TokenCounts] = {}
        self._listeners: list[Ended] = []

    def on_end(self, ended: Ended) -> None:
        """Call `ended` with each request that ends from now on."""
        self._listeners.append(ended)

    def admission(self, entry: ModelEntry, asked: float) -> Admission:
        """Record that a request is waiting for a model.

        Args:
            asked: Since when, by `now`.
        """
        waiting = Admission(self, entry, asked)
        with self._lock:
            self._waiting.add(waiting)
        return waiting

    def waiting(self) -> tuple[WaitingRequest, ...]:
        """List the waiting requests, longest wait first."""
        with self._lock:
            found = [
                WaitingRequest(request.model, request.engine, request.asked)
                for request in self._waiting
            ]
        return tuple(sorted(found, key=lambda request: request.asked))

    def requests(self) -> tuple[RequestRecord, ...]:
        """List the running requests and those that ended within the last `SPAN_S` seconds.

        Older ones only count in the totals.
        """
        oldest = self.now() - SPAN_S
        with self._lock:
            ended = [
                request
                for request in self._ended
                if request.ended is not None and request.ended >= oldest
            ]
            return (*ended, *(request.record() for request in self._running))

    def totals(self) -> dict[tuple[str, EngineName], Totals]:
        """Return the totals of each model in each engine, including running requests.

        The token counts never decrease from one call to the next, even if a running request has
        counted more than its engine reports at the end.
        """
        with self._lock:
            found = deepcopy(self._totals)
            for request in self._running:
                found[request.key].tokens += request.record().tokens
            for key, totals in found.items():
                totals.tokens = totals.tokens.at_least(self._reported.get(key, TokenCounts()))
                self._reported[key] = totals.tokens
            return found

    def answered(
        self,
        chat: Generator[Event, None, None],
        request: ChatRequest,
        admission: Admission,
    ) -> Generator[Event, None, None]:
        """Pass on the events of an engine's answer and record it. Raises what the answer raises."""
        sampling = request.sampling
        sampled = SampledAs(
            sampling.temperature, sampling.top_p, sampling.top_k, sampling.seed, request.max_tokens
        )
        operation: Operation = "chat" if request.prompt is None else "text_completion"
        with self._noted(admission, operation, sampled) as running, closing(chat) as events:
            for event in events:
                running.add(event)
                yield event

    def run_lookup(
        self, operation: Operation, work: Callable[[], Found], admission: Admission
    ) -> Found:
        """Return the result of `work` and record it as a request. Raises what `work` raises."""
        with self._noted(admission, operation, None) as running:
            found = work()
            running.have_read(found.tokens)
        return found

    @contextmanager
    def _noted(
        self, admission: Admission, operation: Operation, sampled: SampledAs | None
    ) -> Iterator[RunningRequest]:
        """Record a request from now until the block ends."""
        now = self.now()
        asked, begun = admission.times()
        record = RequestRecord(
            admission.model,
            admission.engine,
            self._clock() - (now - asked),
            asked,
            begun,
            operation,
            sampled,
        )
        with self._lock:
            totals = self._totals.setdefault((record.model, record.engine), Totals())
            running = RunningRequest(record, totals.gaps, self._lock, self.now)
            self._running.add(running)
        error = ""
        try:
            yield running
        except (Cancelled, GeneratorExit):
            raise
        except BaseException as failed:
            running.end = "error"
            error = failed.code if isinstance(failed, EngineError) else type(failed).__name__
            raise
        finally:
            with self._lock:
                self._running.discard(running)
            self.note(replace(running.record(), ended=self.now(), end=running.end, error=error))

    def note(self, record: RequestRecord) -> None:
        """Count a request that has ended, and call the listeners."""
        with self._lock:
            self._totals.setdefault((record.model, record.engine), Totals()).add(record)
            self._ended.append(record)
        for listener in self._listeners:
            listener(record)

    def forget(self, admission: Admission) -> None:
        """Record that a request is no longer waiting."""
        with self._lock:
            self._waiting.discard(admission)


class Admission:
    """The wait of a request for its engine, until `granted` or `leave`."""

    def __init__(self, log: RequestLog, entry: ModelEntry, asked: float) -> None:
        self.model = public_name(entry)
        self.engine = entry.engine
        self.asked = asked
        self._log = log
        self._granted: float | None = None

    def granted(self) -> None:
        """Record that the model is ready for the request."""
        self._granted = self._log.now()
        self._log.forget(self)

    def leave(self) -> None:
        """Record that the request gives up."""
        self._log.forget(self)

    def times(self) -> tuple[float, float]:
        """Return when it was made and when it was granted; now for both on every further call."""
        now = self._log.now()
        granted, self._granted = self._granted, None
        return (now, now) if granted is None else (self.asked, granted)


class RunningRequest:
    """A request that is being answered, updated on the thread that reads its events.

    Attributes:
        end: Why it ends, unless something else is recorded.
    """

    def __init__(
        self,
        record: RequestRecord,
        gaps: Histogram,
        lock: threading.Lock,
        now: Callable[[], float],
    ) -> None:
        """Begin the request.

        Args:
            gaps: Collects the seconds between its pieces of text.
            lock: Held while it changes, and by those that read its record.
        """
        self.key = record.model, record.engine
        self.end: RequestEnd = "cancelled"  # the reason if the caller stops early
        self._record = record
        self._tokens = TokenCounts()
        self._gaps = gaps
        self._lock = lock
        self._now = now
        self._pieces = 0
        self._first: float | None = None
        self._last: float | None = None

    def record(self) -> RequestRecord:
        """Return the request so far; the number of generated tokens is a guess until the end."""
        tokens = self._tokens
        tokens = tokens if tokens.generated else replace(tokens, generated=self._pieces)
        return replace(self._record, first=self._first, last=self._last, tokens=tokens)

    def add(self, event: Event) -> None:
        """Update the request from an event."""
        if isinstance(event, TextDelta | ReasoningDelta | ToolCallDelta | ToolCall):
            self._piece()
        elif isinstance(event, PromptReady):
            prompt, cached = event.prompt_tokens, event.cached_tokens
            self._report(replace(self._tokens, prompt=prompt, cached=cached))
        elif isinstance(event, MtpReport):
            self._report(replace(self._tokens, drafted=event.drafted, accepted=event.accepted))
        elif isinstance(event, Done):
            self.end = event.finish_reason
            usage, mtp = event.usage, event.mtp
            self._report(
                TokenCounts(
                    usage.prompt_tokens,
                    usage.cached_tokens,
                    usage.completion_tokens,
                    usage.reasoning_tokens,
                    mtp.drafted,
                    mtp.accepted,
                )
            )

    def have_read(self, tokens: int) -> None:
        """Record the tokens of a request that generates no text, and that it succeeded."""
        self.end = "stop"
        self._report(TokenCounts(prompt=tokens))

    def _piece(self) -> None:
        now = self._now()
        with self._lock:
            if self._last is None:
                self._first = now
            else:
                self._gaps.observe(now - self._last)
            self._last = now
            self._pieces += 1

    def _report(self, tokens: TokenCounts) -> None:
        with self._lock:
            self._tokens = tokens
