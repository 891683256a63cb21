"""`hearth clients`: the programs that may use the server, and their requests."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.api.values import ApiClient, ApiUse, shown_name
from app.base.errors import NoKeyring
from app.kit.terminal.arguments import count, positive
from app.kit.terminal.command import Command
from app.kit.terminal.output import Output, table

if TYPE_CHECKING:
    from app.api.services.api_keys import ServerToken
    from app.wiring.app import App

USES_HEAD = ("When", "Client", "From", "Asked for", "Model", "Read", "Written", "Result")
_NONE = "No client has a key of its own; `hearth clients add NAME` makes one."


def manage_clients(app: App, args: argparse.Namespace, out: Output) -> int:
    """Run one of the verbs of `hearth clients`."""
    keys = app.api_keys
    if args.verb == "add":
        models = tuple(app.library.find(it).id for it in args.models)
        client, key = keys.add(args.what, models, per_minute=args.limit, at_once=args.at_once)
        out.value(
            {**_described(client), "key": key.reveal()},
            lambda: f"Key: {key.reveal()}\nIt is shown this once; “{client.name}” sends it.",
        )
    elif args.verb == "list":
        found = keys.clients()
        out.value(
            [_described(it) for it in found],
            lambda: table([_row(it) for it in found]) or _NONE,
        )
    elif args.verb == "rm":
        client = keys.remove(args.what)
        out.value({"removed": client.name}, lambda: f"Removed “{client.name}”.")
    elif args.verb == "uses":
        uses = keys.uses(args.limit)
        out.value([asdict(it) for it in uses], lambda: uses_table(uses) or "Nobody has asked.")
    else:
        _show_token(keys.renew() if args.new else keys.token(), out, new=args.new)
    return 0


def _show_token(token: ServerToken, out: Output, *, new: bool) -> None:
    """Show the server's token.

    Args:
        new: The user asked for a new token, so it is shown even if nothing can keep it.

    Raises:
        NoKeyring: The token is kept only in this process and would be lost when the command ends.
    """
    kept = token.status.place != "memory"
    if not kept and not new:
        raise NoKeyring(
            "There is no token to show.",
            "This system has no keyring, so each start of `hearth serve` makes a token, and prints "
            "it.",
            "Take the one that it has printed. For one that stays, save what `hearth clients token "
            "--new` prints in a file that only you can read, and start `hearth serve --token-file "
            "FILE`; or set HEARTH_API_TOKEN in the environment.",
        )
    if not kept:
        out.note(
            "This system has no keyring, so this token is kept nowhere. Save it in a file that "
            "only you can read, and start `hearth serve --token-file FILE`."
        )
    elif token.status.warning:
        out.note(token.status.warning)
    out.value(
        {"token": token.secret.reveal(), "token_place": token.status.place}, token.secret.reveal
    )


def uses_table(uses: list[ApiUse]) -> str:
    """Format requests as a table for people; "" if there are none."""
    return table([USES_HEAD, *map(_use_row, uses)]) if uses else ""


def _use_row(use: ApiUse) -> tuple[str, ...]:
    when = datetime.fromtimestamp(use.started, tz=UTC).astimezone()
    return (
        when.strftime("%Y-%m-%d %H:%M:%S"),
        shown_name(use.client) or "no valid key",
        use.address,
        use.endpoint,
        use.model or "-",
        f"{use.prompt_tokens:,} tokens",
        f"{use.completion_tokens:,} tokens",
        str(use.status),
    )


def _row(client: ApiClient) -> tuple[str, ...]:
    limits = [
        f"{client.per_minute} a minute" if client.per_minute else "",
        f"{client.at_once} at once" if client.at_once else "",
    ]
    return (
        shown_name(client.name),
        ", ".join(client.models) or "all models",
        ", ".join(filter(None, limits)) or "no limit",
    )


def _described(client: ApiClient) -> dict[str, Any]:
    """Return a client's fields without the hash of its key."""
    told = asdict(client)
    del told["digest"]
    return told


def _declare_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--models",
        type=lambda text: [it.strip() for it in text.split(",") if it.strip()],
        default=[],
        metavar="M,M",
        help="the models that it may use; by default all",
    )
    parser.add_argument(
        "--limit",
        type=count,
        default=0,
        metavar="N",
        help="how many requests it may make a minute; by default any",
    )
    parser.add_argument(
        "--at-once",
        type=count,
        default=0,
        metavar="N",
        help="how many requests it may make at once; by default any",
    )


def _declare_uses(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--limit", type=positive, default=100, metavar="N", help="the last N; by default 100"
    )


COMMAND = Command(
    "clients",
    "programs that may ask the server, each with a key of its own",
    verbs=(
        Command("add", "make a key for a program", manage_clients, "NAME", declare=_declare_add),
        Command("list", "all programs with a key of their own", manage_clients),
        Command(
            "rm", "refuse a program's key from now on", manage_clients, "NAME", aliases=("remove",)
        ),
        Command("uses", "who asked when, never what", manage_clients, declare=_declare_uses),
        Command(
            "token",
            "show the server's own token",
            manage_clients,
            declare=lambda parser: parser.add_argument(
                "--new", action="store_true", help="make another one in its place"
            ),
        ),
    ),
)
