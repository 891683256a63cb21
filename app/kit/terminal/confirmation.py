"""Confirmation at the terminal."""

from __future__ import annotations

import sys

from app.base.errors import AppError
from app.base.language import translated
from app.kit.terminal.output import Output
from app.kit.terminal.streams import read_line
from engines.sentences import N_


class NotAsked(AppError):
    """The error of a command that needs a confirmation but runs without a terminal."""

    code = "not_asked"


def confirm(out: Output, question: str, headline: str) -> bool:
    """Ask the user to agree and return whether they did.

    Args:
        out: Where the question is written.
        question: The question, without the choices.
        headline: The first sentence of the error.

    Raises:
        NotAsked: The command does not run at a terminal, or its output is JSON.
    """
    if out.as_json or not sys.stdin.isatty():
        raise NotAsked(
            headline,
            N_("The command does not run at a terminal."),
            N_("Add --yes to agree beforehand."),
        )
    out.ask(N_("{question} [y/N]", question=question))
    return read_line().strip().lower() in {"y", "yes", *translated(N_("y, yes")).split(", ")}
