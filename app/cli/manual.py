"""The manual page of `hearth`, generated from its parser.

argparse-manpage repeats the global options under each of more than a hundred commands, fills the
usage like a paragraph, and loses a line of help that begins with an apostrophe or a full stop.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from app import __version__

_LONGEST_CHOICES = 40
"""Choices that are longer together, in characters, are not shown in place of a value's name."""

_ENVIRONMENT = (
    ("HEARTH_DATA_DIR", "where settings, chats, models and logs live, like --data-dir"),
    ("HF_ENDPOINT", "the address of a mirror of the Hugging Face Hub"),
    ("HF_TOKEN", "an access token for the Hub"),
    ("NO_COLOR", "no colours, if it is set"),
)
_STATUS = (
    ("0", "success"),
    ("1", "it failed; standard error says what happened, why, and what to do"),
    ("2", "the command line is wrong"),
    ("130", "Ctrl-C interrupted it; the part that was already answered is kept"),
)
_ABOUT = (
    "Hearth runs language models on this computer. Without a command it opens its window, or a chat"
    " in the terminal where there is no display. With names of files, or a link that begins with"
    " “hearth:”, it opens these in the window."
)


def manual(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines of the manual page, for man(1)."""
    yield f'.TH HEARTH 1 "" "Hearth {__version__}" "User Commands"'
    yield ".SH NAME"
    yield r"hearth \- private AI chat on your own computer"
    yield ".SH SYNOPSIS"
    yield _bold("hearth") + r" [\fIoptions\fR] [\fIcommand\fR]"
    yield ".br"
    yield _bold("hearth") + r" [\fIoptions\fR] \fIfile\fR|\fIlink\fR ..."
    yield ".SH DESCRIPTION"
    yield _plain(_ABOUT)
    yield ".SH OPTIONS"
    yield "These options can be given before or after a command."
    yield from _arguments(parser, omitted=())
    yield ".SH COMMANDS"
    yield from _commands(
        parser, tuple(action.dest for action in parser._actions if action.option_strings)
    )
    yield ".SH ENVIRONMENT"
    yield from _terms(_ENVIRONMENT)
    yield ".SH EXIT STATUS"
    yield from _terms(_STATUS)
    yield ".SH SEE ALSO"
    yield _bold("hearth help") + " lists the guides, which explain how everything works."


def _commands(parser: argparse.ArgumentParser, omitted: tuple[str, ...]) -> Iterator[str]:
    """Yield all commands below a parser.

    Args:
        omitted: The names of the options that every command has.
    """
    for name, subparser in _subparsers(parser):
        yield f".SS {_plain(f'{parser.prog} {name}')}"
        yield _plain(subparser.description or "")
        if verbs := [verb for verb, _ in _subparsers(subparser)]:
            yield ".br"
            yield "Followed by one of: " + ", ".join(map(_bold, verbs))
        yield from _arguments(subparser, omitted)
        yield from _commands(subparser, omitted)


def _subparsers(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the commands below a parser; an alias is a command of its own."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _arguments(parser: argparse.ArgumentParser, omitted: Iterable[str]) -> Iterator[str]:
    """Yield the arguments and options of one command, arguments first."""
    own = (
        action for action in parser._actions if not isinstance(action, argparse._SubParsersAction)
    )
    for action in sorted(own, key=lambda action: bool(action.option_strings)):
        if action.dest in omitted:
            continue
        # The text mentions the limits of a range, so its numbers are not listed.
        choices = () if isinstance(action.choices, range) else tuple(map(str, action.choices or ()))
        word = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        joined_choices = "|".join(choices)
        value = (
            joined_choices if joined_choices and len(joined_choices) <= _LONGEST_CHOICES else word
        )
        names = ", ".join(map(_bold, action.option_strings))
        yield ".TP"
        yield " ".join(filter(None, (names, rf"\fI{_plain(value)}\fR" * (action.nargs != 0))))
        text = " ".join((action.help or "").split())
        one_of = f"One of {', '.join(choices)}." if choices and value == word else ""
        yield _plain(". ".join(filter(None, (text, one_of)))) or r"\&"


def _terms(terms: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, text in terms:
        yield ".TP"
        yield _bold(name)
        yield _plain(text)


def _bold(text: str) -> str:
    return f"\\fB{_plain(text)}\\fR"


def _plain(text: str) -> str:
    """Escape a text so that man interprets nothing in it."""
    safe = text.replace("\\", r"\e").replace("-", r"\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
