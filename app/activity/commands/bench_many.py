"""`hearth bench --concurrency`: measures many chats at once on this computer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

from app.activity.services.measuring.bench_many import ManyResult, speeds_of
from app.activity.values.bench_results import BenchStep
from app.kit.terminal.interrupt import interruptible
from app.kit.terminal.output import Output, number, table
from app.models.library.values.entry import ModelEntry
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

Result = TypeVar("Result")


def measure_many(
    app: App,
    entry: ModelEntry,
    settings: Settings,
    counts: Sequence[int],
    tokens: int,
    rounds: int,
    out: Output,
) -> int:
    """Measure, store the speeds for the comparison of engines, and print them.

    Returns the exit status.
    """

    def work(cancel: CancelToken) -> Iterator[BenchStep | ManyResult]:
        return app.many_bench.measure(entry, settings, counts, tokens, rounds, out.progress, cancel)

    [result] = results(work, out)
    for speed in speeds_of(result, app.choice.model_name(entry)):
        app.speeds.store(speed)
    out.value(asdict(result), lambda: _result_text(result, entry))
    return 0


def results(
    work: Callable[[CancelToken], Iterator[BenchStep | Result]], out: Output
) -> list[Result]:
    """Carry out a measurement, show its steps on the way, and return its results.

    Raises KeyboardInterrupt.
    """
    collected: list[Result] = []
    with closing(interruptible(work)) as events:
        for event in events:
            if isinstance(event, BenchStep):
                out.rewrite(
                    N_(
                        "{number} of {total}: {what}",
                        number=event.done + 1,
                        total=event.total,
                        what=event.description,
                    )
                )
            else:
                collected.append(event)
    out.rewrite("")
    return collected


def _result_text(result: ManyResult, entry: ModelEntry) -> str:
    head = (
        N_("chats at once"), N_("tokens/s in all"), N_("each chat"), N_("while it is written")
    )  # fmt: skip
    rows = [
        (str(level.chats), *map(figure, (level.total_tok_s, level.chat_tok_s, level.decode_tok_s)))
        for level in result.levels
    ]
    title = N_(
        "{name}, {device}, context {context}, MTP {mtp}",
        name=entry.name,
        device=result.device,
        context=f"{result.context:,}",
        mtp=result.mtp,
    )
    return joined("\n\n", (joined("\n", (title, result.note)), table(rows, head)))


def figure(tokens_s: float) -> str:
    """Format a speed in tokens a second."""
    return number(f"{tokens_s:,.0f}" if tokens_s >= 10 else f"{tokens_s:.1f}")
