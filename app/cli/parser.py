"""The command line: the commands that there are, and the options that all of them have."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from app import __version__
from app.cli import (
    ask,
    assistants,
    bench,
    chat,
    chats,
    connections,
    doctor,
    engines,
    manage,
    models,
    pull,
    recommend,
    servers,
    token,
)
from app.cli.command import Command, Parser, add_commands
from app.cli.help import COMMAND as HELP
from app.cli.output import Output
from engines.errors import UserError

if TYPE_CHECKING:
    from app.wiring.app import App


def _not_opened(_: App, __: argparse.Namespace, ___: Output) -> int:
    raise UserError(
        "The files were not opened.",
        "There is no display for a window here.",
        "`hearth models import FILE` adds a model, `hearth ask --file FILE` asks about a text.",
    )


OPEN = Command(
    "open",
    "open files in the window: models, texts, exported chats",
    _not_opened,
    declare=lambda parser: parser.add_argument("files", type=Path, nargs="+", metavar="FILE"),
)

COMMANDS = (
    OPEN,
    chat.COMMAND,
    ask.COMMAND,
    bench.COMMAND,
    manage.HARDWARE,
    doctor.COMMAND,
    HELP,
    engines.COMMAND,
    recommend.COMMAND,
    models.COMMAND,
    pull.DOWNLOADS,
    token.COMMAND,
    servers.COMMAND,
    connections.COMMAND,
    chats.COMMAND,
    assistants.COMMAND,
    manage.SETTINGS,
)


def build_parser() -> Parser:
    """Build the parser of all commands; global options may stand before or after a command.

    What it parses holds `run` or `run_closed` of the command, as `Command` has them; without a
    command `run` begins a chat.
    """
    anywhere = Parser(add_help=False, argument_default=argparse.SUPPRESS)
    anywhere.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="where settings, chats, models and logs live; by default $HEARTH_DATA_DIR, or the "
        "system's place for a user's data",
    )
    anywhere.add_argument(
        "--offline",
        action="store_true",
        help="no connection leaves this computer, whatever the settings say",
    )
    anywhere.add_argument("--json", action="store_true", help="one JSON value on stdout, not text")
    anywhere.add_argument("--quiet", action="store_true", help="no progress, no notes")

    parser = Parser(
        prog="hearth", description="Private AI chat on your own computer.", parents=[anywhere]
    )
    parser.set_defaults(run=chat.chat_or_prove, run_closed=None)
    parser.add_argument("--version", action="version", version=f"hearth {__version__}")
    parser.add_argument(
        "--quick-ask", action="store_true", help="open the small window in which to ask one thing"
    )
    add_commands(parser, "command", COMMANDS, anywhere, required=False)
    return parser
