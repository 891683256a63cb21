"""The declaration of a terminal command: its names, its arguments and the function that runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from app.kit.terminal import streams
from engines.errors import UserError
from engines.sentences import N_

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from app.base.folder import DataFolder
    from app.kit.terminal.output import Output
    from app.wiring.app import App


class WrongUsage(UserError):
    """The error of a wrong command line; exit status 2."""

    code = "usage"


class CommandParser(argparse.ArgumentParser):
    """A parser that raises `WrongUsage` where argparse would end the process.

    It reports a help text that cannot be written: some versions of argparse ignore that error,
    and others pass the system's error on to the caller.

    Args:
        as_json: Whether to print the help as one JSON value.
    """

    def __init__(self, *args: Any, as_json: bool = False, **options: Any) -> None:
        self.as_json = as_json
        super().__init__(*args, **options)

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        """Write the help.

        Raises:
            NoOutput: The help cannot be written.
            BrokenPipeError: The process that reads the output has ended.
        """
        if file is not None:
            super().print_help(file)
        elif self.as_json:
            self.say_json({"command": self.prog, "help": self.format_help()})
        else:
            streams.say(self.format_help(), end="")

    def say_json(self, value: object) -> None:
        """Write a JSON value.

        Raises:
            NoOutput: The value cannot be written.
            BrokenPipeError: The process that reads the output has ended.
        """
        from app.kit.terminal.output import Output

        Output(as_json=True).value(value, str)

    def error(self, message: str) -> NoReturn:
        """Raise `WrongUsage` with argparse's message."""
        raise WrongUsage(
            N_("Hearth did not understand that command."),
            N_("{message}.", message=message[:1].upper() + message[1:]),
            N_("`{prog} --help` shows how it is used.", prog=self.prog),
        )


class Argument:
    """An argument or an option of a command.

    Args:
        name: The name in the parsed arguments, or the option with its hyphens.
        text: The description, as `--help` shows it.
        offers: The kind of names that a shell's completion offers for it, such as "models".
        options: Further options of argparse's `add_argument`.
    """

    def __init__(self, name: str, text: str, *, offers: str = "", **options: Any) -> None:
        self._name = name
        self._offers = offers
        self._options = {"help": text, **options}

    def add_to(self, container: argparse._ActionsContainer) -> None:
        """Declare it to a parser or a group. The action gets an attribute `offers`."""
        action: Any = container.add_argument(self._name, **self._options)
        action.offers = self._offers


@dataclass(frozen=True)
class Command:
    """A command, or a verb of a command, declared next to the function that runs it.

    Attributes:
        name: The name, as `--help` shows it.
        text: The description, as `--help` shows it.
        run: Runs the command and returns the exit status. None if the parent command's function
            does that, or if the command has verbs.
        arguments: The arguments and options; of a tuple, the user can give one.
        aliases: Other names for the command.
        verbs: The verbs, of which the user has to name one. It is `verb` in the parsed arguments.
        run_closed: Like `run`, for a command that needs the data folder closed.
    """

    name: str
    text: str
    run: Callable[[App, argparse.Namespace, Output], int] | None = None
    arguments: tuple[Argument | tuple[Argument, ...], ...] = ()
    aliases: tuple[str, ...] = ()
    verbs: tuple[Command, ...] = ()
    run_closed: Callable[[DataFolder, argparse.Namespace, Output], int] | None = None


def add_commands(
    parser: CommandParser,
    dest: str,
    commands: tuple[Command, ...],
    global_options: CommandParser,
    *,
    required: bool,
) -> None:
    """Add commands to a parser, as subcommands.

    Args:
        parser: The parser.
        dest: The attribute of the parsed arguments that holds the name of the command.
        commands: The commands.
        global_options: The options that all commands have.
        required: Whether the user has to name a command.
    """
    subparsers = parser.add_subparsers(
        title="commands",
        dest=dest,
        metavar=dest.upper(),
        required=required,
        parser_class=cast("type[CommandParser]", partial(CommandParser, as_json=parser.as_json)),
    )
    for command in commands:
        parser_of_command = subparsers.add_parser(
            command.name,
            aliases=command.aliases,
            help=command.text,
            description=f"{command.text[0].upper()}{command.text[1:]}.",
            parents=[global_options],
        )
        parser_of_command.set_defaults(**{dest: command.name})
        if command.run is not None or command.run_closed is not None:
            parser_of_command.set_defaults(run=command.run, run_closed=command.run_closed)
        for argument in command.arguments:
            if isinstance(argument, Argument):
                argument.add_to(parser_of_command)
                continue
            group = parser_of_command.add_mutually_exclusive_group()
            for alternative in argument:
                alternative.add_to(group)
        if command.verbs:
            add_commands(parser_of_command, "verb", command.verbs, global_options, required=True)
