"""The command line: its words and nothing else."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from app import __version__
from app.cli.exchange_parser import add_exchange
from app.cli.model_words import MODELS, add_models
from app.cli.server_words import SERVERS, add_servers
from app.core.errors import SettingsInvalid
from engines.errors import UserError
from engines.types import MAX_DEPTH

MODES = ("auto", "on", "off")
ENGINES = ("llamacpp", "vllm", "remote")
ENGINE = "the same model on this engine; otherwise the engine of the model"
MOST_AT_ONCE = 256
EFFORTS = ("minimal", "low", "medium", "high", "max")
ANYWAY = "load the model even if it does not seem to fit the memory"
MTP = "multi-token prediction: auto guesses ahead where it is faster, on always, off never"
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
        "--data-dir", type=Path, metavar="DIR", help="where settings, chats, models and logs live"
    )
    anywhere.add_argument(
        "--offline", action="store_true", help="no connection leaves this computer"
    )
    anywhere.add_argument("--json", action="store_true", help="one JSON value on stdout")
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
    chat.add_argument("--model", metavar="M", help="a model's id, name or GGUF file")
    chat.add_argument("--engine", choices=ENGINES, help=ENGINE)
    chat.add_argument("--anyway", action="store_true", help=ANYWAY)
    _add_answering(chat)

    _add_ask(command("ask", "one answer; TEXT of - reads standard input"))
    _add_bench(command("bench", BENCH))
    hardware = command("hardware", "what this computer has, and what Hearth makes of it")
    device = hardware.add_mutually_exclusive_group()
    device.add_argument("--try", dest="tried", metavar="DEVICE", help="try a graphics device again")
    device.add_argument("--off", metavar="DEVICE", help="use it no more until it is tried again")
    command("doctor", "check everything that commonly breaks")
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
    connections.add_argument("--limit", type=_some, default=100, metavar="N", help="the last N")
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
        "--place", choices=("all", "archive", "trash"), default="all", help="those that lie there"
    )
    chats["search"].add_argument("--limit", type=_some, default=50, metavar="N", help="at most")
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


def _verbs(
    group: _Parser,
    anywhere: _Parser,
    verbs: dict[str, tuple[str, str | None]],
) -> dict[str, _Parser]:
    made: dict[str, _Parser] = {}
    below = group.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)
    for name, (text, what) in verbs.items():
        made[name] = below.add_parser(name, help=text, description=text, parents=[anywhere])
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
        help="cuda for NVIDIA's cards; cpu is slow, and meant for tests",
    )


def _add_ask(ask: _Parser) -> None:
    ask.add_argument("text", metavar="TEXT")
    ask.add_argument("--model", metavar="M", help="a model's id, name or GGUF file")
    ask.add_argument("--engine", choices=ENGINES, help=ENGINE)
    ask.add_argument("--mtp", choices=MODES, help=f"{MTP}; otherwise as the settings say")
    ask.add_argument(
        "--depth",
        type=_depth,
        metavar="N",
        help=f"tokens to guess ahead, 1 to {MAX_DEPTH}; turns MTP on unless --mtp auto is there",
    )
    ask.add_argument("--system", metavar="S", help="the system prompt")
    ask.add_argument("--assistant", metavar="NAME", help="as this assistant, without --chat")
    ask.add_argument("--max-tokens", type=_count, metavar="N")
    ask.add_argument("--temperature", type=_temperature, metavar="T")
    ask.add_argument("--top-p", type=_top_p, metavar="P")
    ask.add_argument("--seed", type=_count, metavar="N")
    ask.add_argument("--context", type=_count, metavar="N")
    ask.add_argument("--stop", action="append", default=[], metavar="S")
    ask.add_argument("--file", action="append", default=[], type=Path, metavar="PATH")
    ask.add_argument(
        "--grammar", type=Path, metavar="FILE", help="a GBNF file that the answer must follow"
    )
    ask.add_argument("--anyway", action="store_true", help=ANYWAY)
    _add_answering(ask)
    ask.add_argument("--chat", metavar="ID", help="continue this chat and save it")


def _add_answering(parser: _Parser) -> None:
    parser.add_argument(
        "--think",
        type=_switch,
        metavar="on|off",
        help="whether a model that can be asked to reasons first; otherwise as the settings say",
    )
    parser.add_argument(
        "--adapter", metavar="NAME", help="with this LoRA adapter of vLLM's; '' is the model alone"
    )
    parser.add_argument(
        "--effort", choices=EFFORTS, help="how hard it reasons, where it knows such levels"
    )
    parser.add_argument(
        "--think-budget",
        type=_count,
        metavar="N",
        help="tokens after which the reasoning is ended and the answer begins",
    )


def _add_bench(bench: _Parser) -> None:
    bench.add_argument("--model", metavar="M", help="a model's id, name or GGUF file")
    bench.add_argument("--engine", choices=ENGINES, help=ENGINE)
    bench.add_argument(
        "--mtp", choices=MODES, help="only this mode, beside off; otherwise all three"
    )
    bench.add_argument(
        "--check-mtp",
        action="store_true",
        help="measure nothing: answer eight prompts greedily with and without MTP, at several "
        "depths, and compare the tokens; exit status 1 if one differs by more than rounding",
    )
    bench.add_argument(
        "--tokens", type=_some, metavar="N", help="of each answer: 128, or 64 with --check-mtp"
    )
    bench.add_argument("--rounds", type=_some, default=3, metavar="N", help="3 if it is left out")
    bench.add_argument(
        "--concurrency",
        type=_counts,
        default=(1,),
        metavar="1,4,16",
        help="measure so many chats at once instead: tokens in all, and for each of them; "
        "llama.cpp answers one after the other",
    )


def _depth(text: str) -> int:
    number = _whole(text)
    if not 1 <= number <= MAX_DEPTH:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and {MAX_DEPTH}")
    return number


def _switch(text: str) -> bool:
    if text not in {"on", "off"}:
        raise argparse.ArgumentTypeError(f"{text} is neither on nor off")
    return text == "on"


def _some(text: str) -> int:
    number = _whole(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _counts(text: str) -> tuple[int, ...]:
    """Numbers of chats at once, each of them once."""
    numbers = tuple(dict.fromkeys(_some(part) for part in text.split(",")))
    if max(numbers) > MOST_AT_ONCE:
        raise argparse.ArgumentTypeError(f"{max(numbers)} is more than {MOST_AT_ONCE}")
    return numbers


def _count(text: str) -> int:
    number = _whole(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return number


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number") from None


def _temperature(text: str) -> float:
    return _as_setting("temperature", text)


def _top_p(text: str) -> float:
    return _as_setting("top_p", text)


def _as_setting(name: str, text: str) -> float:
    """Within the bounds of the setting of that name."""
    from app.core.settings import Settings

    try:
        return float(getattr(Settings().changed(name, text), name))
    except SettingsInvalid as error:
        raise argparse.ArgumentTypeError(f"{text}: {error.why.rstrip('.')}") from None
