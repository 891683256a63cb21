"""`hearth servers`: adds, lists, tests and removes other servers."""

from __future__ import annotations

import argparse
import getpass
import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from app.base.home import expand_home
from app.base.language import translated
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, table
from app.kit.terminal.streams import read_line
from app.net.hosts import is_loopback
from app.servers.values import ServerInfo, ServerProfile, key_variable, short_name
from app.settings.commands import change_settings, reset_notes
from app.settings.values.fields import Settings
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

_KINDS = {
    "vllm": "vLLM",
    "llama-server": "llama-server",
    "lmstudio": "LM Studio",
    "ollama": "Ollama",
    "sglang": "SGLang",
    "openai": N_("a server that speaks OpenAI’s protocol"),
}


def _list(app: App, _: argparse.Namespace, out: Output) -> int:
    found = [(profile, app.servers.info(profile.id)) for profile in app.servers.list()]
    out.value(
        [_described(profile, info) for profile, info in found],
        lambda: (
            table([(profile.name, profile.address, found_line(info)) for profile, info in found])
            or N_("No servers yet; `hearth servers add NAME ADDRESS` adds one.")
        ),
    )
    return 0


def _test(app: App, args: argparse.Namespace, out: Output) -> int:
    profile = app.servers.find(args.what)
    info = app.servers.test(profile)
    out.value(
        _described(profile, info),
        lambda: N_("{name}: {found}", name=profile.name, found=found_line(info)),
    )
    return 0


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    profile = app.servers.find(args.what)
    naming = app.library.settings_naming(
        app.settings.read(), lambda entry: entry.server == profile.id
    )
    app.servers.remove(profile.id)
    settings = change_settings(app, {name: getattr(Settings(), name) for name in naming})
    lines = (N_("Removed “{name}”.", name=profile.name), *reset_notes(settings))
    out.value({"removed": profile.name, "settings": settings}, lambda: joined("\n", lines))
    return 0


def _add(app: App, args: argparse.Namespace, out: Output) -> int:
    """Add a server, or change the one with this name; its key stays unless a new one is given."""
    servers = app.servers
    named = (
        profile for profile in servers.list() if profile.name.casefold() == args.what.casefold()
    )
    before = next(named, None)
    profile = ServerProfile(
        before.id if before else "",
        args.what,
        args.address,
        args.ca and expand_home(args.ca).absolute(),
        args.cert and expand_home(args.cert).absolute(),
    )
    key = _read_key() if args.key_stdin else None
    parted = "" if key is not None or args.keep_key else servers.origin_losing_key(profile)
    saved = servers.save(profile, key, take_key=args.keep_key)
    status = servers.key_status(saved)
    if key == "":
        out.note(N_("No key was entered, so none is stored for “{name}”.", name=saved.name))
    if parted:
        out.note(
            N_(
                "The key of “{name}” was for {origin} only and was deleted. Enter it for this "
                "address with --key-stdin.",
                name=saved.name,
                origin=parted,
            )
        )
    elif before and before.origin != saved.origin and key is None and status.present:
        out.note(
            N_(
                "The key of “{name}” goes to {origin} from now on.",
                name=saved.name,
                origin=saved.origin,
            )
        )
    if key and status.place == "environment":
        out.note(
            N_(
                "{name} in the environment is used instead of the stored key.",
                name=key_variable(saved.name),
            )
        )
    if key and status.place == "memory":
        out.note(
            N_(
                "The key was not stored: this system has no keyring, and Hearth writes no key "
                "into a file. Set {name} in the environment.",
                name=key_variable(saved.name),
            )
        )
    if not saved.encrypted and not is_loopback(saved.host):
        out.note(
            N_(
                "Your messages go to {host} without encryption: use https:// if others can "
                "listen on the network.",
                host=saved.host,
            )
        )
    out.value(
        _described(saved, None) | {"key": status.place},
        lambda: N_(
            "Saved “{name}”; `hearth servers test {kept_name}` shows what it offers.",
            name=saved.name,
            kept_name=quote(saved.name),
        ),
    )
    return 0


def _read_key() -> str:
    """Read the key without echoing it."""
    if sys.stdin.isatty():
        return getpass.getpass(translated(N_("Key (it is not shown): ")))
    return read_line().strip()


def found_line(info: ServerInfo | None) -> str:
    """Describe a server in one line, as it was last found."""
    if info is None:
        return N_("not tested yet")
    drafts = {True: N_("MTP is on"), False: N_("MTP is off"), None: N_("MTP unknown")}
    models = [
        N_("{name} (context {context})", name=_printable(model.id), context=f"{model.context:,}")
        if model.context
        else _printable(model.id)
        for model in info.models[:5]
    ]
    more = len(info.models) - len(models)
    named = joined(", ", models) or N_("no models")
    if more > 0:
        named = N_("{named} and {count} more", named=named, count=more)
    kind = joined(" ", (_KINDS[info.kind], _printable(info.version)))
    return joined("; ", (kind, named, drafts[info.mtp]))


def _printable(text: str) -> str:
    """Shorten a server's description of itself, without control sequences for the terminal."""
    return "".join(character for character in short_name(text) if character.isprintable())


def _described(profile: ServerProfile, info: ServerInfo | None) -> dict[str, Any]:
    value: dict[str, Any] = {
        "id": profile.id,
        "name": profile.name,
        "address": profile.address,
        "ca": profile.ca,
        "certificate": profile.certificate,
        "leaves_computer": not is_loopback(profile.host),
    }
    if info is not None:
        value |= {
            "kind": info.kind,
            "version": info.version,
            "models": [{"id": model.id, "context": model.context} for model in info.models],
            "mtp": info.mtp,
        }
    return value


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
