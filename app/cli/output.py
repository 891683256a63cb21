"""What the terminal prints: answers and JSON on stdout, everything else on stderr."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from engines.errors import UserError

_ORDERS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that a terminal obeys: all of its control characters but tab and the end of a line."""


@dataclasses.dataclass(frozen=True)
class Output:
    """How to print, from the global options."""

    as_json: bool = False
    quiet: bool = False

    def value(self, value: Any, human: Callable[[], str]) -> None:
        """One value: as JSON, or as text for people."""
        if self.as_json:
            print(json.dumps(value, default=_plain, ensure_ascii=False))
        else:
            print(_shown(human()))

    def piece(self, text: str) -> None:
        """A piece of a streamed answer; nothing where one JSON value will hold it all."""
        if not self.as_json:
            print(_shown(text), end="", flush=True)

    def note(self, line: str) -> None:
        """Something worth knowing that is not the answer."""
        if not self.quiet and not self.as_json:
            print(line, file=sys.stderr, flush=True)

    def error(self, error: UserError, **beside: Any) -> None:
        """An error; `beside` is what else belongs into its JSON value."""
        print(f"{error.what} {error.why} {error.do}", file=sys.stderr)
        if self.as_json:
            parts = {"code": error.code, "what": error.what, "why": error.why, "do": error.do}
            value = {"error": parts, **beside}
            print(json.dumps(value, default=_plain, ensure_ascii=False))

    def progress(self, share: float, doing: str = "") -> None:
        """How far the model is loaded. doing: what is done for it just now."""
        self.rewrite(f"{doing or 'Loading the model'}: {share:4.0%}" if share < 1 else "")

    def rewrite(self, line: str) -> None:
        """A line in place of the last such line, on a terminal only."""
        if self.quiet or self.as_json or not sys.stderr.isatty():
            return
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows with their columns aligned to the left."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def size(count: float | None) -> str:
    """Bytes for people: 1.5 GB (decimal, as file managers and shops count)."""
    if count is None:
        return "unknown"
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _shown(text: str) -> str:
    """A terminal carries out what stands in a text for it; a file or a pipe gets all as it is."""
    at_terminal = sys.stdout is not None and sys.stdout.isatty()
    return _ORDERS.sub("\ufffd", text) if at_terminal else text


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    raise TypeError(f"no JSON for {type(value).__name__}")
