"""Records of requests to the engines, and totals over them. Pure.

Times are seconds on a monotonic clock; counts are tokens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from typing import Final, Literal

from app.models.library.values.entry import ModelEntry
from app.servers.values import short_name
from engines.types import EngineName, FinishReason

RequestEnd = FinishReason | Literal["error"]
"""Why a request ended; "error" if its engine failed."""

SPAN_S: Final = 600.0
"""The span in seconds that the activity charts cover."""

Operation = Literal["chat", "text_completion", "embeddings", "rerank"]
"""The kind of request in OpenTelemetry's terms; "rerank" is our own.

“chat” is an answer in a chat, “text_completion” continues a prompt, “embeddings” turns texts into
vectors.
"""

LATENCIES: Final = (
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
)  # fmt: skip
FIRST_TOKENS: Final = (
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
)  # fmt: skip
PER_TOKEN: Final = (
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
)  # fmt: skip
LENGTHS: Final = tuple(
    float(digit * 10**power) for power in range(6) for digit in (1, 2, 5) if digit * 10**power < 3e5
)
"""The upper bounds of histogram buckets are vLLM's (`vllm/v1/metrics/loggers.py`).

So dashboards made for vLLM read the same here.
"""


@dataclass(frozen=True)
class SampledAs:
    """The sampler settings of a request that traces include."""

    temperature: float
    top_p: float
    top_k: int
    seed: int | None
    max_tokens: int | None


@dataclass(frozen=True)
class TokenCounts:
    """Token counts of requests.

    Attributes:
        cached: Prompt tokens that were in the KV cache already.
        reasoning: Generated tokens that are reasoning.
        drafted: Draft tokens of multi-token prediction.
        accepted: Draft tokens that were accepted.
    """

    prompt: int = 0
    cached: int = 0
    generated: int = 0
    reasoning: int = 0
    drafted: int = 0
    accepted: int = 0

    def __add__(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    def at_least(self, other: TokenCounts) -> TokenCounts:
        """Return the larger of each count."""
        return TokenCounts(*map(max, astuple(self), astuple(other)))


@dataclass(frozen=True)
class RequestRecord:
    """A request to an engine, running or ended.

    Attributes:
        model: The name by which clients ask for the model, never a path.
        asked_at: When it joined the queue, in seconds since 1970.
        asked: The same on the monotonic clock, like all times below.
        begun: When the model was ready for it.
        sampled: None for a request that generates no text.
        first: When its first piece of text or of a tool call came.
        last: When its last piece came.
        ended: When it ended; None while it is running.
        end: Why it ended; None while it is running.
        tokens: Generated tokens are counted by pieces until it ends.
        error: The code of the engine's error that ended it, or the class of another error.
    """

    model: str
    engine: EngineName
    asked_at: float
    asked: float
    begun: float
    operation: Operation
    sampled: SampledAs | None
    first: float | None = None
    last: float | None = None
    ended: float | None = None
    end: RequestEnd | None = None
    tokens: TokenCounts = TokenCounts()
    error: str = ""


@dataclass(frozen=True)
class WaitingRequest:
    """A request that waits for its turn or its model.

    Attributes:
        asked: Since when.
    """

    model: str
    engine: EngineName
    asked: float


class Histogram:
    """Counts of values by bucket.

    Attributes:
        bounds: The upper limits of the buckets, inclusive.
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def cumulated(self) -> Iterator[tuple[float, int]]:
        """Yield each upper limit with the number of values up to it; the last limit is infinite."""
        so_far = 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            so_far += count
            yield bound, so_far


@dataclass
class Totals:
    """The sums over all ended requests to a model.

    Attributes:
        gaps: Seconds between pieces of text, including running requests.
    """

    tokens: TokenCounts = TokenCounts()
    ends: Counter[RequestEnd] = field(default_factory=Counter)
    gaps: Histogram = field(default_factory=lambda: Histogram(PER_TOKEN))
    to_first: Histogram = field(default_factory=lambda: Histogram(FIRST_TOKENS))
    per_token: Histogram = field(default_factory=lambda: Histogram(PER_TOKEN))
    whole: Histogram = field(default_factory=lambda: Histogram(LATENCIES))
    queued: Histogram = field(default_factory=lambda: Histogram(LATENCIES))
    running: Histogram = field(default_factory=lambda: Histogram(LATENCIES))
    reading: Histogram = field(default_factory=lambda: Histogram(LATENCIES))
    writing: Histogram = field(default_factory=lambda: Histogram(LATENCIES))
    prompts: Histogram = field(default_factory=lambda: Histogram(LENGTHS))
    computed: Histogram = field(default_factory=lambda: Histogram(LENGTHS))
    answers: Histogram = field(default_factory=lambda: Histogram(LENGTHS))

    def add(self, record: RequestRecord) -> None:
        """Add a request that has ended. Raises ValueError if it has not."""
        if record.ended is None or record.end is None:
            raise ValueError("it has not ended")
        self.tokens += record.tokens
        self.ends[record.end] += 1
        self.whole.observe(record.ended - record.asked)
        self.queued.observe(record.begun - record.asked)
        self.running.observe(record.ended - record.begun)
        self.prompts.observe(record.tokens.prompt)
        self.computed.observe(record.tokens.prompt - record.tokens.cached)
        if record.sampled is not None:
            self.answers.observe(record.tokens.generated)
        if record.first is not None and record.last is not None:
            self.to_first.observe(record.first - record.asked)
            self.reading.observe(record.first - record.begun)
            self.writing.observe(record.last - record.first)
            if record.tokens.generated > 1:
                self.per_token.observe((record.last - record.first) / (record.tokens.generated - 1))


def public_name(entry: ModelEntry) -> str:
    """Return the name by which clients ask for a model; for a path, its last part."""
    if entry.on_server:
        return entry.id.removesuffix(entry.served) + short_name(entry.served)
    return short_name(entry.id)
