"""Output to the terminal: answers and JSON on stdout, everything else on stderr.

Sentences of Hearth's are printed in the user's language. JSON stays English.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from app.base.language import translated, translated_if_marked
from app.kit.terminal.streams import SafeStderr, say
from engines.errors import UserError
from engines.sentences import N_
from engines.text import harmless, json_harmless, on_one_line

_BAR: Final = 24
"""The length of a bar, in characters."""


@dataclasses.dataclass(frozen=True)
class Output:
    """The terminal's output, as the global options ask for it.

    No control sequence from a model or a file reaches a terminal. Text for people never contains
    one; an answer or an export is unchanged only if it goes into a file or a pipe.

    Attributes:
        as_json: Whether to print JSON instead of text for people.
        quiet: Whether to print no notes and no progress.

    Raises:
        NoOutput: The methods raise it if nothing can be written.
        BrokenPipeError: The methods raise it if the process that reads the output has ended.
    """

    as_json: bool = False
    quiet: bool = False

    @property
    def may_be_bold(self) -> bool:
        """True if stdout is a terminal that shows bold text and NO_COLOR is not set."""
        return (
            sys.stdout is not None
            and sys.stdout.isatty()
            and os.name != "nt"
            and not is_dumb()
            and not os.environ.get("NO_COLOR")
        )

    def value(self, value: Any, human: Callable[[], str], *, trusted: bool = False) -> None:
        """Print a value: as JSON, or as text for people.

        Args:
            value: The value to print as JSON.
            human: Returns the text for people.
            trusted: Whether Hearth wrote all of the text. Its control sequences are then kept.
        """
        if self.as_json:
            _say_json(value)
        else:
            text = translated_if_marked(human())
            say(text if trusted else harmless(text))

    def line(self, text: str) -> None:
        """Print one or more lines for people."""
        say(harmless(translated_if_marked(text)))

    def data(self, text: str) -> None:
        """Print a text, such as an export; it is unchanged in a file or a pipe."""
        say(_safe_for_terminal(text))

    def piece(self, text: str) -> None:
        """Print a piece of a streamed answer; as JSON, print nothing, as one value holds it all."""
        if not self.as_json:
            say(_safe_for_terminal(text), end="")

    def note(self, line: str) -> None:
        """Print a note that is not part of the answer to stderr."""
        if not self.quiet and not self.as_json:
            print(on_one_line(translated_if_marked(line)), file=sys.stderr, flush=True)

    def ask(self, question: str) -> None:
        """Print a question to stderr; the user answers it on standard input."""
        print(on_one_line(translated_if_marked(question)), end=" ", file=sys.stderr, flush=True)

    def error(self, error: UserError, **extra: Any) -> None:
        """Print an error to stderr, and as a JSON value if the output is JSON.

        Args:
            error: The error.
            extra: Further entries of the JSON value.
        """
        print(on_one_line(translated_if_marked(error.in_terminal)), file=sys.stderr)
        if self.as_json:
            parts = {"code": error.code, "what": error.what, "why": error.why, "do": error.terminal}
            _say_json({"error": parts, **extra})

    def progress(self, share: float, step: str = "") -> None:
        """Show how much of the model is loaded.

        Args:
            share: The share that is done, 0 to 1; 1 clears the line.
            step: The current step; empty for "Loading the model".
        """
        step = step or N_("Loading the model")
        self.rewrite(N_("{doing}: {share}", doing=step, share=f"{share:4.0%}") if share < 1 else "")

    def rewrite(self, line: str) -> None:
        """Replace the last line that this method printed, if the terminal can do so."""
        if self.quiet or self.as_json or not sys.stderr.isatty() or is_dumb():
            return
        if isinstance(sys.stderr, SafeStderr):
            sys.stderr.rewrite(on_one_line(translated_if_marked(line)))


def is_dumb() -> bool:
    """Return whether the terminal ignores control sequences, as in an editor or a log."""
    return os.environ.get("TERM") == "dumb"


def table(rows: Sequence[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Return rows as text with left-aligned columns; "" if there are none.

    Line breaks in a cell are removed. Only marked cells are translated, and all titles.

    Args:
        rows: The rows below the head.
        head: The titles of the columns; empty for none.
    """
    if not rows:
        return ""
    rows = [[on_one_line(translated_if_marked(cell)) for cell in row] for row in rows]
    if head:
        rows.insert(0, list(map(translated, head)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def labelled(rows: Sequence[tuple[str, str]]) -> str:
    """Return a table of texts with a label before each; the labels are translated."""
    return table([(translated(label), text) for label, text in rows])


def number(text: str) -> str:
    """Mark an English number or amount; it is printed as the user's language writes it."""
    return N_("{number}", number=text)


def bar(share: float) -> str:
    """Return a bar of plain characters for a share, 0 to 1, with the share in per cent."""
    done = "#" * round(share * _BAR)
    return f"[{done:.<{_BAR}}] {share:4.0%}"


def size(count: float | None) -> str:
    """Format a number of bytes for people: 1.5 GB (decimal, as in file managers and shops)."""
    if count is None:
        return N_("unknown")
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return number(f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}")
        count /= 1000
    return number(f"{count:.1f} TB")


def _safe_for_terminal(text: str) -> str:
    """Remove control sequences from a text if stdout is a terminal, which would obey them."""
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
