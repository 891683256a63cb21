"""Texts about the engines' activity: the plots, their values, and the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from PySide6.QtCore import QCoreApplication

from app.activity.values.activity import ActivityCurves, ActivityReport, Curve
from app.kit.look.format import figure, size, tokens


def _tr(text: str) -> str:
    return QCoreApplication.translate("activity", text)


@dataclass(frozen=True)
class PlotWords:
    """The texts and the curve of a plot.

    Attributes:
        name: The prefix of its widgets' names.
        curve: Selects the curve.
        write: Returns a value as text.
        top: The fixed top of the scale; None adapts it to the values.
        dots: Whether values are separate dots, because only some moments have one.
    """

    name: str
    title: str
    curve: Callable[[ActivityCurves], Curve]
    write: Callable[[float], str]
    top: float | None = None
    dots: bool = False


def plots() -> tuple[PlotWords, ...]:
    """Return the plots in the order in which they are shown."""
    select = attrgetter
    return (
        PlotWords("running", _tr("Requests at work"), select("running"), number),
        PlotWords("waiting", _tr("Requests waiting"), select("waiting"), number),
        PlotWords("written", _tr("Tokens written a second"), select("generated_rate"), number),
        PlotWords("read", _tr("Prompt tokens read a second"), select("prompt_rate"), number),
        PlotWords(
            "toFirst", _tr("Time to first token"), select("first_token_s"), seconds, dots=True
        ),
        PlotWords(
            "hits", _tr("Prompts already known"), select("cache_share"), share, top=1.0, dots=True
        ),
        PlotWords(
            "accepted", _tr("Guesses accepted"), select("accepted_share"), share, top=1.0, dots=True
        ),
        PlotWords("memory", _tr("Memory"), select("memory"), memory),
    )


def number(value: float) -> str:
    """Format a number, with one decimal if it is small and not whole."""
    tenths = round(value, 1)
    return figure(tenths, 1 if tenths < 10 and tenths != round(tenths) else 0)


def seconds(value: float) -> str:
    """Format a time, given in seconds."""
    return _tr("{value} s").format(value=figure(value, 2 if value < 10 else 0))


def share(value: float) -> str:
    """Format a share, from 0 to 1, as a percentage."""
    return _tr("{value} %").format(value=figure(100 * value))


def memory(value: float) -> str:
    """Format a size, given in bytes."""
    return size(round(value))


def latest(curve: Curve) -> float | None:
    """Return the last value of a curve; None if it is empty."""
    return next((value for value in reversed(curve) if value is not None), None)


def description(plot: PlotWords, curves: ActivityCurves) -> str:
    """Describe a plot for a screen reader."""
    values = [value for value in plot.curve(curves) if value is not None]
    if not values:
        return _tr("No values in the last ten minutes.")
    latest_text, lowest, highest = (
        plot.write(value) for value in (values[-1], min(values), max(values))
    )
    return _tr("Latest {last}; from {low} to {high} in ten minutes.").format(
        last=latest_text, low=lowest, high=highest
    )


def summary(report: ActivityReport) -> str:
    """Summarise the answers since Hearth was opened."""
    tokens_used = report.tokens
    if not report.answered:
        return _tr("Nothing has been answered since Hearth was opened.")
    sentences = [
        _tr(
            "{answered} answers since Hearth was opened, with {generated} written and {tokens} "
            "read."
        ).format(
            answered=figure(report.answered),
            generated=tokens(tokens_used.generated),
            tokens=tokens(tokens_used.prompt - tokens_used.cached),
        )
        if report.answered > 1
        else _tr(
            "One answer since Hearth was opened, with {generated} written and {tokens} read."
        ).format(
            generated=tokens(tokens_used.generated),
            tokens=tokens(tokens_used.prompt - tokens_used.cached),
        )
    ]
    if tokens_used.cached:
        sentences.append(
            _tr("{cached} of prompts were already in the cache.").format(
                cached=tokens(tokens_used.cached)
            )
        )
    return " ".join(sentences)


def headings() -> tuple[str, ...]:
    """Return the headings of the table."""
    return (_tr("Minutes ago"), *(plot.title for plot in plots()))


def rows(report: ActivityReport) -> list[tuple[str, ...]]:
    """Return the minutes as rows of text, the latest first."""
    columns = [
        [
            plot.write(value) if value is not None else "–"
            for value in reversed(plot.curve(report.by_minute))
        ]
        for plot in plots()
    ]
    return [(f"{ago}–{ago + 1}", *cells) for ago, cells in enumerate(zip(*columns, strict=True))]
