"""`hearth servers`: other servers whose models answer here."""

from __future__ import annotations

import argparse
import getpass
import sys
from shlex import quote
from typing import TYPE_CHECKING, Any

from app.cli.output import Output, table
from app.cli.streams import read_line
from app.core.home import from_home
from app.core.network.servers import ServerFacts, ServerProfile, key_variable, short_name
from app.net.hosts import is_loopback

if TYPE_CHECKING:
    from app.services.engines.servers import Servers

_KINDS = {
    "vllm": "vLLM",
    "llama-server": "llama-server",
    "lmstudio": "LM Studio",
    "ollama": "Ollama",
    "sglang": "SGLang",
    "openai": "a server that speaks OpenAI’s protocol",
}


def manage_servers(servers: Servers, args: argparse.Namespace, out: Output) -> int:
    if args.verb == "list":
        found = [(it, servers.facts(it.id)) for it in servers.list()]
        out.value(
            [_described(profile, facts) for profile, facts in found],
            lambda: (
                table([(it.name, it.address, found_line(facts)) for it, facts in found])
                or "No servers yet; `hearth servers add NAME ADDRESS` adds one."
            ),
        )
    elif args.verb == "add":
        _add(servers, args, out)
    elif args.verb == "test":
        profile = servers.find(args.what)
        facts = servers.test(profile)
        out.value(_described(profile, facts), lambda: f"{profile.name}: {found_line(facts)}")
    else:
        profile = servers.find(args.what)
        servers.remove(profile.id)
        out.value({"removed": profile.name}, lambda: f"Removed “{profile.name}”.")
    return 0


def _add(servers: Servers, args: argparse.Namespace, out: Output) -> None:
    """One with the same name is changed; the key stays unless another is given."""
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
    """Without showing what is typed, where somebody types it."""
    if sys.stdin.isatty():
        return getpass.getpass("Key (it is not shown): ")
    return read_line().strip()


def found_line(facts: ServerFacts | None) -> str:
    """What a server was found to be, in one line."""
    if facts is None:
        return "not looked at yet"
    drafts = {True: "MTP is on", False: "MTP is off", None: "does not tell of MTP"}
    models = [
        f"{short_name(it.id)} (context {it.context:,})" if it.context else short_name(it.id)
        for it in facts.models[:5]
    ]
    more = len(facts.models) - len(models)
    listed = ", ".join(models) or "no models"
    line = "; ".join(
        (
            f"{_KINDS[facts.kind]} {facts.version}".strip(),
            f"{listed} and {more} more" if more > 0 else listed,
            drafts[facts.mtp],
        )
    )
    # What a server says of itself may steer a terminal.
    return "".join(it for it in line if it.isprintable())


def _described(profile: ServerProfile, facts: ServerFacts | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": profile.id,
        "name": profile.name,
        "address": profile.address,
        "ca": profile.ca,
        "certificate": profile.certificate,
        "leaves_computer": not is_loopback(profile.host),
    }
    if facts is not None:
        told |= {
            "kind": facts.kind,
            "version": facts.version,
            "models": [{"id": it.id, "context": it.context} for it in facts.models],
            "mtp": facts.mtp,
        }
    return told
