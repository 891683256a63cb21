"""`hearth servers`: adds, lists, tests and removes other servers."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from app.base.home import from_home
from app.kit.terminal.command import Command
from app.kit.terminal.output import Output, table
from app.kit.terminal.streams import read_line
from app.net.hosts import is_loopback
from app.servers.values import ServerInfo, ServerProfile, key_variable, short_name
from app.settings.commands import change_settings, reset_in_words
from app.settings.values.fields import Settings

if TYPE_CHECKING:
    from app.servers.services import Servers
    from app.wiring.app import App

_KINDS = {
    "vllm": "vLLM",
    "llama-server": "llama-server",
    "lmstudio": "LM Studio",
    "ollama": "Ollama",
    "sglang": "SGLang",
    "openai": "a server that speaks OpenAI’s protocol",
}


def manage_servers(app: App, args: argparse.Namespace, out: Output) -> int:
    """Run one of the verbs of `hearth servers`."""
    servers = app.servers
    if args.verb == "list":
        found = [(it, servers.info(it.id)) for it in servers.list()]
        out.value(
            [_described(profile, info) for profile, info in found],
            lambda: (
                table([(it.name, it.address, found_line(info)) for it, info in found])
                or "No servers yet; `hearth servers add NAME ADDRESS` adds one."
            ),
        )
    elif args.verb == "add":
        _add(servers, args, out)
    elif args.verb == "test":
        profile = servers.find(args.what)
        info = servers.test(profile)
        out.value(_described(profile, info), lambda: f"{profile.name}: {found_line(info)}")
    else:
        profile = servers.find(args.what)
        naming = app.library.settings_naming(
            app.settings.read(), lambda it: it.server == profile.id
        )
        servers.remove(profile.id)
        settings = change_settings(app, {it: getattr(Settings(), it) for it in naming})
        said = (f"Removed “{profile.name}”.", *reset_in_words(settings))
        out.value({"removed": profile.name, "settings": settings}, lambda: "\n".join(said))
    return 0


def _add(servers: Servers, args: argparse.Namespace, out: Output) -> None:
    """Add a server, or change the one with this name; its key stays unless a new one is given."""
    named = (it for it in servers.list() if it.name.casefold() == args.what.casefold())
    before = next(named, None)
    profile = ServerProfile(
        before.id if before else "",
        args.what,
        args.address,
        args.ca and from_home(args.ca).absolute(),
        args.cert and from_home(args.cert).absolute(),
    )
    key = _read_key() if args.key_stdin else None
    parted = "" if key is not None or args.keep_key else servers.parts_from_key(profile)
    kept = servers.save(profile, key, take_key=args.keep_key)
    status = servers.key_status(kept)
    if key == "":
        out.note(f"No key came, so none is kept for “{kept.name}”.")
    if parted:
        out.note(
            f"The key of “{kept.name}” was for {parted} alone, and is forgotten: with --key-stdin "
            "you give it for this address."
        )
    elif before and before.origin != kept.origin and key is None and status.present:
        out.note(f"The key of “{kept.name}” goes to {kept.origin} from now on.")
    if key and status.place == "environment":
        out.note(f"{key_variable(kept.name)} in the environment wins over the key that was kept.")
    if key and status.place == "memory":
        out.note(
            "The key was not kept: this system has no keyring, and Hearth writes no key into a "
            f"file. Set {key_variable(kept.name)} in the environment."
        )
    if not kept.encrypted and not is_loopback(kept.host):
        out.note(
            f"What you ask goes to {kept.host} without encryption: use https:// where others can "
            "listen on the network."
        )
    out.value(
        _described(kept, None) | {"key": status.place},
        lambda: f"Kept “{kept.name}”; `hearth servers test {quote(kept.name)}` asks what is there.",
    )


def _read_key() -> str:
    """Read the key without echoing it."""
    if sys.stdin.isatty():
        return getpass.getpass("Key (it is not shown): ")
    return read_line().strip()


def found_line(info: ServerInfo | None) -> str:
    """Describe a server in one line, as it was last found."""
    if info is None:
        return "not looked at yet"
    drafts = {True: "MTP is on", False: "MTP is off", None: "does not tell of MTP"}
    models = [
        f"{short_name(it.id)} (context {it.context:,})" if it.context else short_name(it.id)
        for it in info.models[:5]
    ]
    more = len(info.models) - len(models)
    listed = ", ".join(models) or "no models"
    line = "; ".join(
        (
            f"{_KINDS[info.kind]} {info.version}".strip(),
            f"{listed} and {more} more" if more > 0 else listed,
            drafts[info.mtp],
        )
    )
    # A server's description of itself could contain control sequences for the terminal.
    return "".join(it for it in line if it.isprintable())


def _described(profile: ServerProfile, info: ServerInfo | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": profile.id,
        "name": profile.name,
        "address": profile.address,
        "ca": profile.ca,
        "certificate": profile.certificate,
        "leaves_computer": not is_loopback(profile.host),
    }
    if info is not None:
        told |= {
            "kind": info.kind,
            "version": info.version,
            "models": [{"id": it.id, "context": it.context} for it in info.models],
            "mtp": info.mtp,
        }
    return told


def _declare_add(add: argparse.ArgumentParser) -> None:
    add.add_argument("address", metavar="ADDRESS", help="such as http://192.168.1.20:8000")
    add.add_argument(
        "--ca",
        type=Path,
        metavar="FILE",
        help="the certificate of the server's own authority, as PEM; by default the system's",
    )
    add.add_argument(
        "--cert",
        type=Path,
        metavar="FILE",
        help="a certificate of yours with its key, as PEM; by default none",
    )
    key = add.add_mutually_exclusive_group()
    key.add_argument(
        "--key-stdin", action="store_true", help="read the server's key from standard input"
    )
    key.add_argument(
        "--keep-key",
        action="store_true",
        help="the kept key may go to the changed address; otherwise it is forgotten",
    )


COMMAND = Command(
    "servers",
    "other servers whose models answer here",
    verbs=(
        Command(
            "add",
            "keep a server, or change the one with that name",
            manage_servers,
            "NAME",
            declare=_declare_add,
        ),
        Command("list", "all servers, as they were found last", manage_servers),
        Command("test", "ask a server what it is", manage_servers, "NAME"),
        Command("rm", "forget a server and its key", manage_servers, "NAME", aliases=("remove",)),
    ),
)
