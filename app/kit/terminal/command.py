"""What a command of the terminal is: its words, its arguments, and what carries it out."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from app.kit.terminal import streams
from engines.errors import UserError

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from app.base.folder import DataFolder
    from app.kit.terminal.output import Output
    from app.wiring.app import App


class WrongUsage(UserError):
    """The command line is wrong; exit status 2."""

    code = "usage"


class CommandParser(argparse.ArgumentParser):
    """A parser that raises Usage where argparse would end the process.

    Its help has to reach somebody: some versions of argparse say nothing where it cannot be
    written, and others leave the system's error to whoever called. as_json: it is one JSON value.
    """

    def __init__(self, *args: Any, as_json: bool = False, **options: Any) -> None:
        self.as_json = as_json
        super().__init__(*args, **options)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Write the help. Raises NoOutput, or BrokenPipeError where its reader has gone."""
        if file is not None:
            super().print_help(file)
        elif self.as_json:
            self.say_json({"command": self.prog, "help": self.format_help()})
        else:
            streams.say(self.format_help(), end="")

    def say_json(self, value: object) -> None:
        """Write a JSON value. Raises NoOutput or BrokenPipeError."""
        from app.kit.terminal.output import Output

        Output(as_json=True).value(value, str)

    def error(self, message: str) -> NoReturn:
        raise WrongUsage(
            "Hearth did not understand that command.",
            f"{message[:1].upper()}{message[1:]}.",
            f"`{self.prog} --help` shows how it is used.",
        )


@dataclass(frozen=True)
class Command:
    """A command, or a verb of one, declared beside the function that carries it out.

    name, text: as `--help` shows them. aliases: other words for it.
    run: carries it out and returns the exit status; None where its command's does, or it has verbs.
    run_closed: the same for one that needs the data folder closed.
    what: the one argument that most verbs have, as the usage names it. nargs: how often it may be
    given, as argparse writes that. declare: adds all further arguments.
    verbs: one of them has to be named; it is `verb` among the arguments.
    """

    name: str
    text: str
    run: Callable[[App, argparse.Namespace, Output], int] | None = None
    what: str | None = None
    nargs: str | None = None
    aliases: tuple[str, ...] = ()
    declare: Callable[[argparse.ArgumentParser], object] | None = None
    verbs: tuple[Command, ...] = ()
    run_closed: Callable[[DataFolder, argparse.Namespace, Output], int] | None = None


def add_commands(
    parser: CommandParser,
    dest: str,
    commands: tuple[Command, ...],
    anywhere: CommandParser,
    *,
    required: bool,
) -> None:
    """Add commands below a parser. anywhere: the options that all of them have."""
    below = parser.add_subparsers(
        dest=dest,
        metavar=dest.upper(),
        required=required,
        parser_class=cast("type[CommandParser]", partial(CommandParser, as_json=parser.as_json)),
    )
    for it in commands:
        made = below.add_parser(
            it.name,
            aliases=it.aliases,
            help=it.text,
            description=it.text,
            parents=[anywhere],
        )
        made.set_defaults(**{dest: it.name})
        if it.run is not None or it.run_closed is not None:
            made.set_defaults(run=it.run, run_closed=it.run_closed)
        if it.what is not None:
            made.add_argument("what", metavar=it.what, nargs=it.nargs)
        if it.declare is not None:
            it.declare(made)
        if it.verbs:
            add_commands(made, "verb", it.verbs, anywhere, required=True)
