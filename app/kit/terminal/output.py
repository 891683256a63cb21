"""Prints to the terminal: answers and JSON on stdout, everything else on stderr."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from app.kit.terminal.streams import Complaints, say
from engines.errors import UserError
from engines.text import harmless, json_harmless, on_one_line


@dataclasses.dataclass(frozen=True)
class Output:
    """The terminal's output, as the global options want it.

    Nothing gives orders to a terminal. Text for people never holds any; an answer and an export
    go as they are into a file or a pipe. Raises NoOutput where nothing can be written, or
    BrokenPipeError.
    """

    as_json: bool = False
    quiet: bool = False

    @property
    def may_be_bold(self) -> bool:
        """Whether stdout is a terminal that shows bold text, and nobody has asked for plain."""
        return (
            sys.stdout is not None
            and sys.stdout.isatty()
            and os.name != "nt"
            and not is_dumb()
            and not os.environ.get("NO_COLOR")
        )

    def value(self, value: Any, human: Callable[[], str], *, ours: bool = False) -> None:
        """Print a value: as JSON, or as text for people.

        ours: all of the text is Hearth's own, so that what it orders the terminal may stay in it.
        """
        if self.as_json:
            _say_json(value)
        else:
            text = human()
            say(text if ours else harmless(text))

    def line(self, text: str) -> None:
        """Print one line or more for people."""
        say(harmless(text))

    def data(self, text: str) -> None:
        """Print a text that is to be kept as it is, such as an export."""
        say(_shown(text))

    def piece(self, text: str) -> None:
        """Print a piece of a streamed answer; nothing where one JSON value will hold it all."""
        if not self.as_json:
            say(_shown(text), end="")

    def note(self, line: str) -> None:
        """Print something worth knowing that is not the answer, to stderr."""
        if not self.quiet and not self.as_json:
            print(on_one_line(line), file=sys.stderr, flush=True)

    def ask(self, question: str) -> None:
        """Print a question that is to be answered on standard input."""
        print(on_one_line(question), end=" ", file=sys.stderr, flush=True)

    def error(self, error: UserError, **beside: Any) -> None:
        """Print an error; `beside` is what else belongs into its JSON value."""
        print(on_one_line(str(error)), file=sys.stderr)
        if self.as_json:
            parts = {"code": error.code, "what": error.what, "why": error.why, "do": error.terminal}
            _say_json({"error": parts, **beside})

    def progress(self, share: float, doing: str = "") -> None:
        """Show how far the model is loaded, 0 to 1. doing: what is done for it just now."""
        self.rewrite(f"{doing or 'Loading the model'}: {share:4.0%}" if share < 1 else "")

    def rewrite(self, line: str) -> None:
        """Print a line in place of the last such line, on a terminal that can do so."""
        if self.quiet or self.as_json or not sys.stderr.isatty() or is_dumb():
            return
        if isinstance(sys.stderr, Complaints):
            sys.stderr.rewrite(on_one_line(line))


def is_dumb() -> bool:
    """Tell whether the terminal takes no orders, as that of an editor or a log."""
    return os.environ.get("TERM") == "dumb"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align columns to the left; nothing in a cell makes a row of its own."""
    if not rows:
        return ""
    rows = [[on_one_line(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def size(count: float | None) -> str:
    """Write bytes for people: 1.5 GB (decimal, as file managers and shops count)."""
    if count is None:
        return "unknown"
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _shown(text: str) -> str:
    """Make a text harmless on a terminal, which would obey what stands in it; a file gets all."""
    at_terminal = sys.stdout is not None and sys.stdout.isatty()
    return harmless(text) if at_terminal else text


def _say_json(value: Any) -> None:
    say(json_harmless(json.dumps(value, default=_plain, ensure_ascii=False)))


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    raise TypeError(f"no JSON for {type(value).__name__}")
