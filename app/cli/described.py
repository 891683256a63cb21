"""What a parser of command lines takes, as plain values: for completions and the manual."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

_WIDE = 40
"""Of more characters than these, the choices are no name for a value."""

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
"""The kinds of names, by the command or the argument, and by the word for it in the usage."""


@dataclass(frozen=True)
class DescribedOption:
    """An option. takes: what follows it, "" for nothing. value: as the usage names that.

    choices: the words of which it is one. names: the kind of the things of the user's of which it
    is one, such as models; "" for none.
    """

    flags: tuple[str, ...]
    text: str
    takes: Takes = ""
    value: str = ""
    choices: tuple[str, ...] = ()
    names: str = ""


@dataclass(frozen=True)
class DescribedCommand:
    """A command with its words, from the first: () is the program itself.

    usage: as `--help` shows it, without "usage:". arguments: those that are no options.
    """

    words: tuple[str, ...]
    text: str
    usage: str
    options: tuple[DescribedOption, ...]
    arguments: tuple[DescribedOption, ...]
    below: tuple[DescribedCommand, ...]

    @property
    def takes_files(self) -> bool:
        """Whether it takes names of files."""
        return any(it.takes in {"file", "folder"} for it in self.arguments)

    def walk(self) -> Iterator[DescribedCommand]:
        """Yield this command and all below it."""
        yield self
        for it in self.below:
            yield from it.walk()


def described(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = (), text: str = ""
) -> DescribedCommand:
    """Describe a parser with all commands below it; each of their other names counts as one."""
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
    """Describe an option or an argument. of: the first word of its command."""
    takes: Takes = "word"
    if action.nargs == 0:
        takes = ""
    elif action.type is Path or action.metavar in {"FILE", "DIR"}:
        takes = "folder" if action.metavar == "DIR" else "file"
    # A range of numbers is told by the text.
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
