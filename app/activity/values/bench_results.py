"""The results of a measurement: medians and ratios, computed from its runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from engines.sentences import N_

if TYPE_CHECKING:
    from engines.types import Done, EngineName, MtpKind, MtpMode

TextKind = Literal["code", "prose", "copying", "chat"]
KIND_WORDS: Final[dict[TextKind, str]] = {
    "code": N_("code"),
    "prose": N_("prose"),
    "copying": N_("copying"),
    "chat": N_("chat"),
}


@dataclass(frozen=True)
class BenchStep:
    """The progress of a measurement.

    Attributes:
        description: The part that comes next, as text.
    """

    done: int
    total: int
    description: str


@dataclass(frozen=True)
class ModeResult:
    """The result of a mode for a kind of text.

    Attributes:
        tokens, drafted, accepted: Sums over all rounds.
        decode_tok_s: Tokens per second, the median over the rounds.
        gain: The median of the speed ratios to MTP off within each round; None for "off" itself.
        bound: The largest gain that the cost of checking drafts and the acceptance allow; None if
            unknown.
        same_text: Whether the text was the same as with MTP off in every round.
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
    """The results for a kind of text.

    Attributes:
        prefill_tok_s: Tokens per second, of the longest part of a prompt that was evaluated at
            once.
    """

    kind: TextKind
    prefill_tok_s: float
    modes: tuple[ModeResult, ...]


@dataclass(frozen=True)
class BenchResult:
    """The results of `Bench.measure`.

    Attributes:
        engine: The engine's own name.
        runs_on: Hearth's name of the engine.
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
    """Answers to one prompt in one mode, one after another, all with the same text."""

    dones: tuple[Done, ...]
    text: str

    @property
    def speed(self) -> float:
        """Tokens per second over all answers."""
        measured = [done for done in self.dones if done.timing.decode_tok_s > 0]
        tokens = sum(done.usage.completion_tokens for done in measured)
        seconds = sum(d.usage.completion_tokens / d.timing.decode_tok_s for d in measured)
        return tokens / seconds if seconds else 0.0


def kind_result(kind: TextKind, runs: dict[MtpMode, list[Run]]) -> KindResult:
    """Compute the results of all modes for a kind of text."""
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
    latest = reports[-1]
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
        # A gain above its bound is a measurement error, so the bound is raised to it.
        bound=max(median(bounds), gain or 0.0) if bounds else None,
        active=latest.active,
        kind=latest.kind,
        depth=latest.depth,
        drafted=sum(report.drafted for report in reports),
        accepted=sum(report.accepted for report in reports),
        reason=latest.reason,
        same_text=off is None or all(run.text == off[0].text for run in runs),
    )
