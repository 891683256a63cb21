"""Computes the results of a measurement: runs in, medians and ratios out; pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from engines.types import Done, EngineName, MtpKind, MtpMode

TextKind = Literal["code", "prose", "copying", "chat"]


@dataclass(frozen=True)
class BenchStep:
    """The progress of a measurement; what: the piece that comes next, in words."""

    done: int
    total: int
    what: str


@dataclass(frozen=True)
class ModeResult:
    """The result of a mode on a kind of text: tokens per second, medians over the rounds.

    tokens, drafted, accepted: of all rounds together.
    gain: over MTP off, the median of the ratios within each round; None for "off" itself.
    bound: the most that the cost of checking drafts and the acceptance allow, if it is known.
    same_text: whether the text was that of MTP off in every round.
    """

    mode: MtpMode
    tokens: int
    decode_tok_s: float
    gain: float | None
    bound: float | None
    active: bool
    kind: MtpKind
    depth: int
    drafted: int
    accepted: int
    reason: str
    same_text: bool


@dataclass(frozen=True)
class KindResult:
    """The results on a kind of text.

    prefill_tok_s: of the longest part of its prompt that was evaluated at once.
    """

    kind: TextKind
    prefill_tok_s: float
    modes: tuple[ModeResult, ...]


@dataclass(frozen=True)
class BenchResult:
    """The results of `Bench.measure`.

    engine: as it calls itself. runs_on: which of the kinds it is.
    """

    model: str
    engine: str
    device: str
    context: int
    mtp_line: str
    rounds: int
    concurrency: int
    kinds: tuple[KindResult, ...]
    runs_on: EngineName = "llamacpp"


@dataclass(frozen=True)
class Run:
    """Answers to one prompt in one mode, one after the other; the same text each time."""

    dones: tuple[Done, ...]
    text: str

    @property
    def speed(self) -> float:
        """Tokens per second over all of them."""
        measured = [done for done in self.dones if done.timing.decode_tok_s > 0]
        tokens = sum(done.usage.completion_tokens for done in measured)
        seconds = sum(d.usage.completion_tokens / d.timing.decode_tok_s for d in measured)
        return tokens / seconds if seconds else 0.0


def kind_result(kind: TextKind, runs: dict[MtpMode, list[Run]]) -> KindResult:
    every = [done for of_mode in runs.values() for run in of_mode for done in run.dones]
    coldest = max(every, key=lambda done: done.usage.prompt_tokens - done.usage.cached_tokens)
    return KindResult(
        kind=kind,
        prefill_tok_s=coldest.timing.prefill_tok_s,
        modes=tuple(_mode_result(mode, of_mode, runs.get("off")) for mode, of_mode in runs.items()),
    )


def _mode_result(mode: MtpMode, runs: list[Run], off: list[Run] | None) -> ModeResult:
    from statistics import median

    dones = [done for run in runs for done in run.dones]
    reports = [done.mtp for done in dones]
    last = reports[-1]
    bounds = [report.bound for report in reports if report.bound is not None]
    gains: list[float] = []
    if off is not None and mode != "off":
        pairs = zip(runs, off, strict=True)
        gains = [run.speed / plain.speed for run, plain in pairs if plain.speed]
    gain = median(gains) if gains else None
    return ModeResult(
        mode=mode,
        tokens=sum(done.usage.completion_tokens for done in dones),
        decode_tok_s=median(run.speed for run in runs),
        gain=gain,
        # A gain above its bound is an error of measurement, and the bound is no less than it.
        bound=max(median(bounds), gain or 0.0) if bounds else None,
        active=last.active,
        kind=last.kind,
        depth=last.depth,
        drafted=sum(report.drafted for report in reports),
        accepted=sum(report.accepted for report in reports),
        reason=last.reason,
        same_text=off is None or all(run.text == off[0].text for run in runs),
    )
