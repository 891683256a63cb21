"""Words for the activity of the engines: the plots, their values, the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from PySide6.QtCore import QCoreApplication

from app.core.metrics.activity import ActivityCurves, ActivityReport, Curve
from app.ui.look.format import figure, size, tokens


def _tr(text: str) -> str:
    return QCoreApplication.translate("activity", text)


@dataclass(frozen=True)
class PlotWords:
    """A plot of the page: one curve, or two of which one lies over the other.

    name: of its widgets. curves: of each its words and its values; words are empty where it is
    alone. write: puts a value in words. top: of its scale, where that is fixed. dots: each value
    stands by itself, as only some moments have one.
    """

    name: str
    title: str
    curves: tuple[tuple[str, Callable[[ActivityCurves], Curve]], ...]
    write: Callable[[float], str]
    top: float | None = None
    dots: bool = False


def plots() -> tuple[PlotWords, ...]:
    """List the plots in the order in which they are shown."""
    return (
        PlotWords(
            "requests",
            _tr("Requests"),
            (
                (_tr("Answered"), attrgetter("running")),
                (_tr("Waiting"), attrgetter("waiting")),
            ),
            number,
        ),
        PlotWords(
            "written", _tr("Tokens written a second"), (("", attrgetter("written")),), number
        ),
        PlotWords("read", _tr("Prompt tokens read a second"), (("", attrgetter("read")),), number),
        PlotWords(
            "toFirst",
            _tr("Time to first token"),
            (("", attrgetter("to_first")),),
            seconds,
            dots=True,
        ),
        PlotWords(
            "hits",
            _tr("Prompts already known"),
            (("", attrgetter("hits")),),
            share,
            top=1.0,
            dots=True,
        ),
        PlotWords(
            "accepted",
            _tr("Guesses accepted"),
            (("", attrgetter("accepted")),),
            share,
            top=1.0,
            dots=True,
        ),
        PlotWords("memory", _tr("Memory"), (("", attrgetter("memory")),), memory),
    )


def number(value: float) -> str:
    """Write a number, with one digit after the point where that says more."""
    return figure(value, 1 if 0 < value < 10 and value != round(value) else 0)


def seconds(value: float) -> str:
    return _tr("{0} s").format(figure(value, 2 if value < 10 else 0))


def share(value: float) -> str:
    return _tr("{0} %").format(figure(100 * value))


def memory(value: float) -> str:
    return size(round(value))


def latest(curve: Curve) -> float | None:
    """Return the last value of a curve."""
    return next((it for it in reversed(curve) if it is not None), None)


def spoken(plot: PlotWords, curves: ActivityCurves) -> str:
    """Say what a plot shows, for who does not see it."""
    said = [_spoken(words, values(curves), plot) for words, values in plot.curves]
    return " ".join(said)


def _spoken(words: str, curve: Curve, plot: PlotWords) -> str:
    values = [it for it in curve if it is not None]
    if not values:
        return _tr("Nothing in the last ten minutes.")
    now, low, high = (plot.write(it) for it in (values[-1], min(values), max(values)))
    said = _tr("Last {0}; in ten minutes from {1} to {2}.").format(now, low, high)
    return f"{words}: {said}" if words else said


def summary(report: ActivityReport) -> str:
    """Say what has been done since Hearth was opened."""
    done = report.tokens
    if not report.answered:
        return _tr("Nothing has been answered since Hearth was opened.")
    said = [
        _tr("{0} answers since Hearth was opened, with {1} written and {2} read.").format(
            figure(report.answered), tokens(done.generated), tokens(done.prompt - done.cached)
        )
        if report.answered > 1
        else _tr("One answer since Hearth was opened, with {0} written and {1} read.").format(
            tokens(done.generated), tokens(done.prompt - done.cached)
        )
    ]
    if done.cached:
        said.append(_tr("{0} of prompts were known already.").format(tokens(done.cached)))
    return " ".join(said)


def heads() -> tuple[str, ...]:
    """Name the columns of the table."""
    named = [
        f"{plot.title}: {words}" if words else plot.title
        for plot in plots()
        for words, _ in plot.curves
    ]
    return (_tr("Minutes ago"), *named)


def rows(report: ActivityReport) -> list[tuple[str, ...]]:
    """Put the minutes in words, the last one first."""
    columns = [
        [plot.write(it) if it is not None else "–" for it in reversed(values(report.by_minute))]
        for plot in plots()
        for _, values in plot.curves
    ]
    return [(f"{ago}–{ago + 1}", *cells) for ago, cells in enumerate(zip(*columns, strict=True))]
