"""The command line: its words and nothing else."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from app import __version__
from app.cli.answer_words import (
    ANYWAY,
    ENGINE,
    ENGINES,
    add_answering,
    add_ask,
    add_bench,
    add_model,
    some,
)
from app.cli.exchange_parser import add_exchange
from app.cli.model_words import MODELS, add_models
from app.cli.server_words import SERVERS, add_servers
from engines.errors import UserError

BENCH = (
    "Measured speed on this computer: answers to code, prose, copying and chat, with MTP off and "
    "with each mode, side by side in interleaved rounds. The gain stands beside the most that the "
    "cost of checking guesses allows."
)


class Usage(UserError):
    """The words on the command line do not fit; exit status 2."""

    code = "usage"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(
            "Hearth did not understand that command.",
            f"{message[:1].upper()}{message[1:]}.",
            f"`{self.prog} --help` shows how it is used.",
        )


def build_parser() -> argparse.ArgumentParser:
    """Global options may stand before or after the command."""
    anywhere = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
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

    parser = _Parser(
        prog="hearth", description="Private AI chat on your own computer.", parents=[anywhere]
    )
    parser.add_argument("--version", action="version", version=f"hearth {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, text: str) -> _Parser:
        return commands.add_parser(name, help=text, description=text, parents=[anywhere])

    parser.add_argument(
        "--quick-ask", action="store_true", help="open the small window in which to ask one thing"
    )
    opened = command("open", "open files in the window: models, texts, exported chats")
    opened.add_argument("files", type=Path, nargs="+", metavar="FILE")
    chat = command("chat", "chat in the terminal; /help lists the commands there")
    add_model(chat)
    chat.add_argument("--engine", choices=ENGINES, help=ENGINE)
    chat.add_argument("--anyway", action="store_true", help=ANYWAY)
    add_answering(chat)

    add_ask(command("ask", "one answer; TEXT of - reads standard input"))
    add_bench(command("bench", BENCH))
    hardware = command("hardware", "what this computer has, and what Hearth makes of it")
    device = hardware.add_mutually_exclusive_group()
    device.add_argument("--try", dest="tried", metavar="DEVICE", help="try a graphics device again")
    device.add_argument("--off", metavar="DEVICE", help="use it no more until it is tried again")
    command("doctor", "check everything that commonly breaks")
    helps = command("help", "the guides: without a topic, the list of them")
    helps.add_argument("topic", nargs="?", metavar="TOPIC", help="such as models or privacy")
    engines = command("engines", "the engines and why one cannot run here")
    _add_engines(
        _verbs(
            engines,
            anywhere,
            {
                "list": ("all engines, with their versions and why one is not here", None),
                "install": ("look at this computer, say the price, ask, install", "NAME"),
                "use": ("prefer an engine, for models that several can run: or auto", "NAME"),
                "rollback": ("go back to the version before this one", "NAME"),
                "remove": ("remove all its versions", "NAME"),
            },
        )
    )
    command(
        "recommend", "the model that suits this computer, with the reason and the memory sum"
    ).add_argument(
        "--refresh", action="store_true", help="ask the Hub for the true sizes of the files first"
    )
    add_models(_verbs(command("models", "the models here and on the Hub"), anywhere, MODELS))
    _verbs(
        command("downloads", "what is being downloaded"),
        anywhere,
        {
            "list": ("all downloads", None),
            "pause": ("stop a download and keep what is there", "ID"),
            "resume": ("go on with a download", "ID"),
            "cancel": ("stop a download and remove what is there", "ID"),
        },
    )
    token = _verbs(
        command("token", "secrets, kept in the system's keyring"),
        anywhere,
        {
            "set": ("keep a token, read from standard input", "SERVICE"),
            "status": ("whether there is a token, and where", "SERVICE"),
            "clear": ("forget a token", "SERVICE"),
        },
    )
    token["set"].add_argument(
        "--untested", action="store_true", help="keep it without asking the Hub whose it is"
    )
    add_servers(
        _verbs(command("servers", "other servers whose models answer here"), anywhere, SERVERS)
    )
    connections = command("connections", "every connection that left this computer, and why")
    connections.add_argument("--clear", action="store_true", help="empty the list")
    connections.add_argument(
        "--limit", type=some, default=100, metavar="N", help="the last N lines; by default 100"
    )
    chats = _verbs(
        command("chats", "the chats on this computer"),
        anywhere,
        {
            "list": ("all chats, the last used first", None),
            "search": ("messages and titles that hold all the words", "WORDS"),
            "show": ("one chat", "ID"),
            "export": ("chats as text on stdout, or as files", "ID…"),
            "import": ("chats that another program or Hearth has exported", "FILE…"),
            "rm": ("delete a chat; it can be brought back for 30 days", "ID"),
            "undelete": ("bring a deleted chat back", "ID"),
            "archive": ("put a chat away", "ID"),
            "unarchive": ("put a chat back into the list", "ID"),
            "restore": ("all chats as a daily copy has them; `list` shows the copies", "FILE"),
        },
    )
    chats["list"].add_argument(
        "--place",
        choices=("all", "archive", "trash"),
        default="all",
        help="those that lie there; by default all",
    )
    chats["search"].add_argument(
        "--limit", type=some, default=50, metavar="N", help="at most N hits; by default 50"
    )
    add_exchange(chats["export"], chats["import"])
    _verbs(
        command("assistants", "the assistants that were made in the window"),
        anywhere,
        {
            "list": ("all assistants", None),
            "show": ("one assistant", "NAME"),
            "rm": ("remove an assistant; its chats stay", "NAME"),
        },
    )
    settings = _verbs(
        command("settings", "every setting of the window"),
        anywhere,
        {
            "list": ("all settings", None),
            "get": ("one setting", "NAME"),
            "set": ("change a setting", "NAME"),
        },
    )
    settings["set"].add_argument("value", metavar="VALUE")
    return parser


_MANY = {"WORDS": "+", "FILE…": "+", "ID…": "*"}
"""How often what a verb is about may be named; otherwise once."""

_ALSO = {"rm": ("remove",), "remove": ("rm",)}
"""Other words for a verb."""


def _verbs(
    group: _Parser,
    anywhere: _Parser,
    verbs: dict[str, tuple[str, str | None]],
) -> dict[str, _Parser]:
    made: dict[str, _Parser] = {}
    below = group.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)
    for name, (text, what) in verbs.items():
        made[name] = below.add_parser(
            name, aliases=_ALSO.get(name, ()), help=text, description=text, parents=[anywhere]
        )
        made[name].set_defaults(verb=name)
        if what is not None:
            many = _MANY.get(what)
            made[name].add_argument("what", metavar=what.rstrip("…"), nargs=many)
    return made


def _add_engines(engines: dict[str, _Parser]) -> None:
    engines["install"].add_argument("--yes", action="store_true", help="agree beforehand")
    engines["install"].add_argument(
        "--profile",
        choices=("cuda", "cpu"),
        default="cuda",
        help="cuda for NVIDIA's cards, which is the default; cpu is slow, and meant for tests",
    )
