"""Asks at the terminal whether something may be done."""

from __future__ import annotations

import sys

from app.base.errors import AppError
from app.kit.terminal.output import Output
from app.kit.terminal.streams import read_line


class NotAsked(AppError):
    """Something was not confirmed, as there is nobody to ask."""

    code = "not_asked"


def agreed(out: Output, question: str, what: str) -> bool:
    """Whether the user agrees. what: the error's sentence. Raises NotAsked without a terminal."""
    if out.as_json or not sys.stdin.isatty():
        raise NotAsked(
            what,
            "The command does not run at a terminal.",
            "Add --yes to agree beforehand.",
        )
    out.ask(f"{question} [y/N]")
    return read_line().strip().lower() in {"y", "yes"}
