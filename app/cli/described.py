"""Describes the parser of the command line as plain values, for completions and the manual page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

_WIDE = 40
"""If the choices together are longer, in characters, they are no readable name for a value."""

Takes = Literal["", "word", "file", "folder"]

_NAMES: Final = {
    ("", "M"): "models",
    ("", "COLLECTION"): "collections",
    ("", "TOPIC"): "guides",
    ("settings", "NAME"): "settings",
    ("setting", "NAME"): "settings",
    ("assistants", "NAME"): "assistants",
    ("assistant", "NAME"): "assistants",
    ("servers", "NAME"): "servers",
    ("clients", "NAME"): "clients",
}
"""The kind of a name, by the command or argument and by the word for it in the usage."""


@dataclass(frozen=True)
class DescribedOption:
    """An option or a positional argument.

    Attributes:
        takes: The kind of value that follows; "" for none.
        value: The name of that value in the usage.
        choices: The allowed values, if there is a fixed list.
        names: The kind of names that the value is taken from, such as models; "" for none.
    """

    flags: tuple[str, ...]
    text: str
    takes: Takes = ""
    value: str = ""
    choices: tuple[str, ...] = ()
    names: str = ""


@dataclass(frozen=True)
class DescribedCommand:
    """A command and everything below it.

    Attributes:
        words: The words that call it; () for the program itself.
        usage: The usage as `--help` shows it, without "usage:".
        arguments: The positional arguments.
        below: Its subcommands.
    """

    words: tuple[str, ...]
    text: str
    usage: str
    options: tuple[DescribedOption, ...]
    arguments: tuple[DescribedOption, ...]
    below: tuple[DescribedCommand, ...]

    @property
    def takes_files(self) -> bool:
        """Whether it takes names of files or folders."""
        return any(it.takes in {"file", "folder"} for it in self.arguments)

    def walk(self) -> Iterator[DescribedCommand]:
        """Yield this command and all commands below it."""
        yield self
        for it in self.below:
            yield from it.walk()


def described(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = (), text: str = ""
) -> DescribedCommand:
    """Describe a parser and all commands below it; an alias counts as a command of its own."""
    options, arguments, below = [], [], []
    of = words[0] if words else ""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {it.dest: it.help or "" for it in action._choices_actions}
            for name, made in action.choices.items():
                said = texts.get(name, made.description or "")
                below.append(described(made, (*words, name), said))
        elif action.option_strings:
            options.append(_described(action, of))
        else:
            arguments.append(_described(action, of))
    usage = " ".join(parser.format_usage().removeprefix("usage: ").split())
    return DescribedCommand(words, text, usage, tuple(options), tuple(arguments), tuple(below))


def _described(action: argparse.Action, of: str) -> DescribedOption:
    """Describe an option or an argument.

    Args:
        of: The first word of its command.
    """
    takes: Takes = "word"
    if action.nargs == 0:
        takes = ""
    elif action.type is Path or action.metavar in {"FILE", "DIR"}:
        takes = "folder" if action.metavar == "DIR" else "file"
    # The text mentions the limits of a range, so its numbers are not listed.
    listed = () if isinstance(action.choices, range) else action.choices or ()
    choices = tuple(map(str, listed))
    value = ""
    if takes:
        metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        value = "|".join(choices)
        if not value or len(value) > _WIDE:
            value = metavar
    text = "" if action.help in {None, argparse.SUPPRESS} else str(action.help)
    words = " ".join((text % vars(action) if "%(" in text else text).split())
    names = next((_NAMES[it, value] for it in (of, action.dest, "") if (it, value) in _NAMES), "")
    return DescribedOption(
        tuple(action.option_strings), words, takes, value, choices, names if takes else ""
    )
