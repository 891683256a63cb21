"""`hearth servers`: adds, lists, tests and removes other servers."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from app.base.home import expand_home
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, table
from app.kit.terminal.streams import read_line
from app.net.hosts import is_loopback
from app.servers.values import ServerInfo, ServerProfile, key_variable, short_name
from app.settings.commands import change_settings, reset_notes
from app.settings.values.fields import Settings
from engines.sentences import N_

if TYPE_CHECKING:
    from app.wiring.app import App

_KINDS = {
    "vllm": "vLLM",
    "llama-server": "llama-server",
    "lmstudio": N_("LM Studio"),
    "ollama": "Ollama",
    "sglang": "SGLang",
    "openai": N_("a server that speaks OpenAI’s protocol"),
}


def _list(app: App, _: argparse.Namespace, out: Output) -> int:
    found = [(it, app.servers.info(it.id)) for it in app.servers.list()]
    out.value(
        [_described(profile, info) for profile, info in found],
        lambda: (
            table([(it.name, it.address, found_line(info)) for it, info in found])
            or N_("No servers yet; `hearth servers add NAME ADDRESS` adds one.")
        ),
    )
    return 0


def _test(app: App, args: argparse.Namespace, out: Output) -> int:
    profile = app.servers.find(args.what)
    info = app.servers.test(profile)
    out.value(_described(profile, info), lambda: f"{profile.name}: {found_line(info)}")
    return 0


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    profile = app.servers.find(args.what)
    naming = app.library.settings_naming(app.settings.read(), lambda it: it.server == profile.id)
    app.servers.remove(profile.id)
    settings = change_settings(app, {it: getattr(Settings(), it) for it in naming})
    lines = (f"Removed “{profile.name}”.", *reset_notes(settings))
    out.value({"removed": profile.name, "settings": settings}, lambda: "\n".join(lines))
    return 0


def _add(app: App, args: argparse.Namespace, out: Output) -> int:
    """Add a server, or change the one with this name; its key stays unless a new one is given."""
    servers = app.servers
    named = (it for it in servers.list() if it.name.casefold() == args.what.casefold())
    before = next(named, None)
    profile = ServerProfile(
        before.id if before else "",
        args.what,
        args.address,
        args.ca and expand_home(args.ca).absolute(),
        args.cert and expand_home(args.cert).absolute(),
    )
    key = _read_key() if args.key_stdin else None
    parted = "" if key is not None or args.keep_key else servers.parts_from_key(profile)
    kept = servers.save(profile, key, take_key=args.keep_key)
    status = servers.key_status(kept)
    if key == "":
        out.note(N_("No key came, so none is kept for “{name}”.", name=kept.name))
    if parted:
        out.note(
            N_(
                "The key of “{name}” was for {parted} alone, and is forgotten: with --key-stdin "
                "you "
                "give it for this address.",
                name=kept.name,
                parted=parted,
            )
        )
    elif before and before.origin != kept.origin and key is None and status.present:
        out.note(
            N_(
                "The key of “{name}” goes to {origin} from now on.",
                name=kept.name,
                origin=kept.origin,
            )
        )
    if key and status.place == "environment":
        out.note(
            N_(
                "{name} in the environment wins over the key that was kept.",
                name=key_variable(kept.name),
            )
        )
    if key and status.place == "memory":
        out.note(
            N_(
                "The key was not kept: this system has no keyring, and Hearth writes no key into a "
                "file. Set {name} in the environment.",
                name=key_variable(kept.name),
            )
        )
    if not kept.encrypted and not is_loopback(kept.host):
        out.note(
            N_(
                "What you ask goes to {host} without encryption: use https:// where others can "
                "listen on the network.",
                host=kept.host,
            )
        )
    out.value(
        _described(kept, None) | {"key": status.place},
        lambda: N_(
            "Kept “{name}”; `hearth servers test {kept_name}` asks what is there.",
            name=kept.name,
            kept_name=quote(kept.name),
        ),
    )
    return 0


def _read_key() -> str:
    """Read the key without echoing it."""
    if sys.stdin.isatty():
        return getpass.getpass(N_("Key (it is not shown): "))
    return read_line().strip()


def found_line(info: ServerInfo | None) -> str:
    """Describe a server in one line, as it was last found."""
    if info is None:
        return N_("not looked at yet")
    drafts = {True: N_("MTP is on"), False: N_("MTP is off"), None: N_("does not tell of MTP")}
    models = [
        f"{short_name(it.id)} (context {it.context:,})" if it.context else short_name(it.id)
        for it in info.models[:5]
    ]
    more = len(info.models) - len(models)
    listed = ", ".join(models) or N_("no models")
    line = "; ".join(
        (
            f"{_KINDS[info.kind]} {info.version}".strip(),
            N_("{named} and {count} more", named=listed, count=more) if more > 0 else listed,
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


_NAME = Argument("what", N_("the server's name in Hearth"), metavar="NAME", offers="servers")

COMMAND = Command(
    "servers",
    "manage other servers whose models answer here",
    verbs=(
        Command(
            "add",
            "add a server, or change the one with this name",
            _add,
            (
                _NAME,
                Argument(
                    "address", "its address, such as http://192.168.1.20:8000", metavar="ADDRESS"
                ),
                Argument(
                    "--ca",
                    "a PEM file with the certificate of the server's own authority; by default the "
                    "system's authorities",
                    type=Path,
                    metavar="FILE",
                ),
                Argument(
                    "--cert",
                    "a PEM file with a certificate of yours and its key; by default none",
                    type=Path,
                    metavar="FILE",
                ),
                (
                    Argument(
                        "--key-stdin",
                        "read the server's key from standard input",
                        action="store_true",
                    ),
                    Argument(
                        "--keep-key",
                        "send the kept key to the changed address as well; otherwise it is deleted",
                        action="store_true",
                    ),
                ),
            ),
        ),
        Command("list", "list all servers, as they were last found", _list),
        Command("test", "connect to a server and show what it offers", _test, (_NAME,)),
        Command("rm", "remove a server and its key", _remove, (_NAME,), aliases=("remove",)),
    ),
)
