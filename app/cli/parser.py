"""The command line: its commands, and the options that all of them share."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from pathlib import Path
from pkgutil import resolve_name

from app import __version__
from app.base.home import expand_home
from app.kit.terminal import streams
from app.kit.terminal.command import Command, CommandParser, add_commands
from app.window.values.links import is_link, path_of

_GLOBAL_OPTIONS = {"--offline", "--json", "--quiet", "--quick-ask"}

COMMANDS = {
    "open": "app.settings.commands:OPEN",
    "chat": "app.chats.commands.chat:COMMAND",
    "ask": "app.chats.commands.ask:COMMAND",
    "bench": "app.activity.commands.bench:COMMAND",
    "hardware": "app.settings.commands:HARDWARE",
    "doctor": "app.cli.doctor:COMMAND",
    "help": "app.help.commands.help:COMMAND",
    "about": "app.help.commands.about:COMMAND",
    "engines": "app.runtime.commands.engines:COMMAND",
    "recommend": "app.runtime.commands.recommend:COMMAND",
    "models": "app.models.library.commands.models:COMMAND",
    "downloads": "app.models.downloads.commands:DOWNLOADS",
    "token": "app.models.discover.commands.token:COMMAND",
    "servers": "app.servers.commands:COMMAND",
    "serve": "app.api.commands.serve:COMMAND",
    "stats": "app.api.commands.stats:COMMAND",
    "clients": "app.api.commands.clients:COMMAND",
    "connections": "app.api.commands.connections:COMMAND",
    "chats": "app.exchange.commands:COMMAND",
    "docs": "app.documents.collections.commands:COMMAND",
    "assistants": "app.assistants.commands:COMMAND",
    "settings": "app.settings.commands:SETTINGS",
    "completion": "app.cli.completion:COMMAND",
}
"""Where each command is declared; `build_parser` loads only what a command line needs.

To load all of them takes longer than most of them run.
"""


def build_parser(words: Sequence[str] | None = None) -> CommandParser:
    """Build the parser; global options can stand before or after a command.

    The parsed arguments hold the command's `run` or `run_closed`, as `Command` declares them; both
    are None without a command.

    Args:
        words: The command line, for which only the needed commands are added; None adds all.
    """
    global_options = CommandParser(add_help=False, argument_default=argparse.SUPPRESS)
    global_options.add_argument(
        "--data-dir",
        type=_folder_path,
        metavar="DIR",
        help="the folder for settings, chats, models and logs; by default $HEARTH_DATA_DIR, or the "
        "system's usual folder for the data of an app",
    )
    global_options.add_argument(
        "--offline",
        action="store_true",
        help="allow no connection to leave this computer, whatever the settings say",
    )
    global_options.add_argument(
        "--json", action="store_true", help="print one JSON value instead of text"
    )
    global_options.add_argument(
        "--quiet", action="store_true", help="print no progress and no notes"
    )

    parser = CommandParser(
        prog="hearth",
        description="Private AI chat on your own computer. Without a command, Hearth opens its "
        "window, or a chat in the terminal where there is no display.",
        epilog="`hearth COMMAND --help` describes a command. `hearth help` lists the guides.",
        parents=[global_options],
        as_json="--json" in (words or ()),
    )
    parser.set_defaults(run=None, run_closed=None)
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        default=argparse.SUPPRESS,
        help="print Hearth's version",
    )
    parser.add_argument(
        "--quick-ask", action="store_true", help="open the small window for a single question"
    )
    names = COMMANDS if words is None else _commands_for(words)
    commands: list[Command] = [resolve_name(COMMANDS[name]) for name in names]
    add_commands(parser, "command", tuple(commands), global_options, required=False)
    return parser


def _folder_path(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("the path of a folder is empty")
    return Path(text)


class _Version(argparse.Action):
    """The action of `--version`; it reports a failed write as `CommandParser.print_help` does."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        if isinstance(parser, CommandParser) and parser.as_json:
            parser.say_json({"version": __version__})
        else:
            streams.say(f"hearth {__version__}")
        parser.exit()


def with_command(words: Sequence[str]) -> list[str]:
    """Insert `open` if a file or a link stands in the place of the command.

    This is how desktops start a program for a file or link that the user clicks.
    """
    index = _first_word(words)
    if index < len(words) and words[index] not in COMMANDS and _is_to_open(words[index]):
        return [*words[:index], "open", *words[index:]]
    return list(words)


def _is_to_open(word: str) -> bool:
    if word.startswith("-"):
        return False
    path = expand_home(path_of(word))
    return is_link(word) or path.suffix.lower() == ".gguf" or path.is_file()


def _commands_for(words: Sequence[str]) -> Collection[str]:
    """Return the commands that a command line needs: its own, or all if it names none."""
    index = _first_word(words)
    if index == len(words) or words[index] == "--version":
        return []
    return [words[index]] if words[index] in COMMANDS else COMMANDS


def _first_word(words: Sequence[str]) -> int:
    """Return the index of the command, or of an option that is not global; else the length."""
    index = 0
    while index < len(words) and words[index] in {*_GLOBAL_OPTIONS, "--data-dir"}:
        index += 2 if words[index] == "--data-dir" else 1
    return min(index, len(words))
