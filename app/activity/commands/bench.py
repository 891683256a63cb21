"""`hearth bench`: measures speed on this computer, or checks that MTP keeps answers the same."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from app.activity.commands.bench_many import figure, measure_many, results
from app.activity.services.measuring.speeds import speed_of
from app.activity.values.bench_results import KIND_WORDS, BenchResult, BenchStep, ModeResult
from app.chats.commands.ask import on_engine
from app.kit.terminal.arguments import ENGINE, MODEL, MODES, positive
from app.kit.terminal.command import Argument, Command, WrongUsage
from app.kit.terminal.output import Output, number, table
from app.models.library.values.entry import ModelEntry
from app.models.library.values.same_answer import PromptComparison, in_words, is_good, verdict_of
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.sentences import N_, joined
from engines.types import MtpMode

if TYPE_CHECKING:
    from app.wiring.app import App

_TOKENS = 128
_TOKENS_COMPARED = 64
_DEPTHS = (1, 2, 4, 8)
_ALL_MODES: tuple[MtpMode, ...] = ("off", "auto", "on")


def bench(app: App, args: argparse.Namespace, out: Output) -> int:
    """Run the command; return the exit status."""
    if args.check_mtp and args.concurrency != (1,):
        raise WrongUsage(
            N_("--check-mtp and --concurrency contradict each other."),
            N_("The check compares the tokens of two answers, and measures no speed."),
            N_("Leave out one of the two."),
        )
    settings = app.settings.read()
    name = on_engine(app, args.model, args.engine, args.model)
    entry = app.library.find(settings.model if name is None else name)
    settings = app.library.effective(entry, settings)
    if args.check_mtp:
        tokens = args.tokens or _TOKENS_COMPARED
        return _compare(app, entry, settings, tokens, out)
    if args.concurrency != (1,):
        settings = settings if args.mtp is None else replace(settings, mtp=args.mtp)
        tokens = args.tokens or _TOKENS
        return measure_many(app, entry, settings, args.concurrency, tokens, args.rounds, out)
    modes: tuple[MtpMode, ...] = _ALL_MODES if args.mtp is None else ("off", args.mtp)
    modes = tuple(dict.fromkeys(modes))
    return _measure(app, entry, settings, modes, args.tokens or _TOKENS, args.rounds, out)


def _measure(
    app: App,
    entry: ModelEntry,
    settings: Settings,
    modes: Sequence[MtpMode],
    tokens: int,
    rounds: int,
    out: Output,
) -> int:
    def work(cancel: CancelToken) -> Iterator[BenchStep | BenchResult]:
        return app.bench.measure(entry, settings, modes, tokens, rounds, out.progress, cancel)

    [result] = results(work, out)
    app.speeds.store(speed_of(result, app.choice.model_name(entry)))
    out.value(asdict(result), lambda: _result_text(result, entry))
    return 0


def _compare(app: App, entry: ModelEntry, settings: Settings, tokens: int, out: Output) -> int:
    def work(cancel: CancelToken) -> Iterator[BenchStep | PromptComparison]:
        return app.bench.compare(entry, settings, (_DEPTHS,), tokens, out.progress, cancel)

    results_compared = results(work, out)
    value = {
        "same": is_good(results_compared),
        "identical": all(result.check.identical for result in results_compared),
        "model": entry.id,
        "checks": [
            {"prompt": r.prompt, "verdict": verdict_of(r.check), **asdict(r.check)}
            for r in results_compared
        ],
    }
    out.value(value, lambda: _comparison_text(results_compared))
    return 0 if is_good(results_compared) else 1


def _comparison_text(compared: Sequence[PromptComparison]) -> str:
    rows = []
    for depth in _DEPTHS:
        checks = [result.check for result in compared if result.check.depth == depth]
        if checks:
            identical = sum(check.identical for check in checks)
            rows.append(
                (
                    N_("{depth} ahead", depth=depth),
                    N_("{count} tokens", count=f"{sum(check.tokens for check in checks):,}"),
                    N_("{same} of {count} prompts identical", same=identical, count=len(checks)),
                    N_(
                        "{count} guessed tokens accepted",
                        count=f"{sum(check.accepted for check in checks):,}",
                    ),
                )
            )
    return joined("\n", (table(rows), *in_words(compared)))


def _result_text(result: BenchResult, entry: ModelEntry) -> str:
    lines = [
        N_(
            "{name}, {device}, context {context}",
            name=entry.name,
            device=result.device,
            context=f"{result.context:,}",
        ),
        N_("The guide knows only Hearth, so it is measured with questions about Hearth.")
        if entry.builtin
        else "",
        result.mtp_line,
    ]
    head = (
        N_("text"), "MTP", N_("tokens/s"), N_("gain"), N_("at most"), N_("accepted"), N_("what ran")
    )  # fmt: skip
    rows = [
        (KIND_WORDS[kind.kind], mode.mode, *_cells(mode))
        for kind in result.kinds
        for mode in kind.modes
    ]
    speeds = joined(
        ", ",
        (
            N_("{kind} {speed}", kind=KIND_WORDS[kind.kind], speed=f"{kind.prefill_tok_s:,.0f}")
            for kind in result.kinds
        ),
    )
    below = [N_("Reading prompts, tokens/s: {speeds}", speeds=speeds)]
    if not all(mode.same_text for kind in result.kinds for mode in kind.modes):
        below.append(N_("Not every mode wrote the same text; --check-mtp shows where and why."))
    return joined("\n\n", (joined("\n", lines), table(rows, head), joined("\n", below)))


def _cells(mode: ModeResult) -> tuple[str, ...]:
    share = f"{mode.accepted / mode.drafted:.0%}" if mode.drafted else ""
    return (
        figure(mode.decode_tok_s),
        number(f"{mode.gain:.2f}x") if mode.gain is not None else "",
        number(f"{mode.bound:.2f}x") if mode.bound is not None else "",
        share,
        mode.reason if mode.mode != "off" else "",
    )


_MOST_AT_ONCE = 256


def _concurrency(text: str) -> tuple[int, ...]:
    """Parse the numbers of chats at once, each kept once."""
    numbers = tuple(dict.fromkeys(positive(part) for part in text.split(",")))
    if max(numbers) > _MOST_AT_ONCE:
        raise argparse.ArgumentTypeError(f"{max(numbers)} is more than {_MOST_AT_ONCE}")
    return numbers


COMMAND = Command(
    "bench",
    "measure a model's speed on this computer, with multi-token prediction (MTP) off and in each "
    "mode",
    bench,
    (
        MODEL,
        ENGINE,
        Argument(
            "--mtp",
            "measure only this mode, besides off; by default all modes",
            choices=MODES,
        ),
        Argument(
            "--check-mtp",
            "instead of measuring, answer eight prompts greedily with and without MTP, at several "
            "depths, and compare the tokens; the exit status is 1 if one differs by more than "
            "rounding",
            action="store_true",
        ),
        Argument(
            "--tokens",
            "the length of each answer; by default 128, or 64 with --check-mtp",
            type=positive,
            metavar="N",
        ),
        Argument(
            "--rounds",
            "how often each answer is measured; by default 3",
            type=positive,
            default=3,
            metavar="N",
        ),
        Argument(
            "--concurrency",
            "instead, measure this many chats at once, one number after the other: tokens a "
            "second in total and for each chat; by default 1",
            type=_concurrency,
            default=(1,),
            metavar="1,4,16",
        ),
    ),
)
