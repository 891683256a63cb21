"""`hearth clients`: the programs that may use the server, and their requests."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.api.values import ApiClient, ApiUse, short_name
from app.base.errors import NoKeyring
from app.kit.terminal.arguments import count, positive
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, table
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.api.services.api_keys import ServerToken
    from app.wiring.app import App

USES_HEAD = (
    N_("When"), N_("Client"), N_("From"), N_("Asked for"), N_("Model"), N_("Read"), N_("Written"),
    N_("Result"),
)  # fmt: skip
_NO_CLIENTS = N_("No program has a key of its own; `hearth clients add NAME` creates one.")


def _add(app: App, args: argparse.Namespace, out: Output) -> int:
    models = tuple(app.library.find(name).id for name in args.models)
    client, key = app.api_keys.add(args.name, models, per_minute=args.limit, at_once=args.at_once)
    out.value(
        {**_described(client), "key": key.reveal()},
        lambda: N_(
            "Key: {key}\nIt is shown only now. “{name}” has to send it with each request.",
            key=key.reveal(),
            name=client.name,
        ),
    )
    return 0


def _list(app: App, _: argparse.Namespace, out: Output) -> int:
    clients = app.api_keys.clients()
    out.value(
        [_described(client) for client in clients],
        lambda: table([_row(client) for client in clients]) or _NO_CLIENTS,
    )
    return 0


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    client = app.api_keys.remove(args.name)
    out.value({"removed": client.name}, lambda: N_("Removed “{name}”.", name=client.name))
    return 0


def _uses(app: App, args: argparse.Namespace, out: Output) -> int:
    uses = app.api_keys.uses(args.limit)
    out.value(
        [asdict(use) for use in uses],
        lambda: uses_table(uses) or N_("No program has sent a request yet."),
    )
    return 0


def _token(app: App, args: argparse.Namespace, out: Output) -> int:
    keys = app.api_keys
    _show_token(keys.renew() if args.new else keys.token(), out, new=args.new)
    return 0


def _show_token(token: ServerToken, out: Output, *, new: bool) -> None:
    """Show the server's token.

    Args:
        new: The user asked for a new token, so it is shown even if nothing can store it.

    Raises:
        NoKeyring: The token exists only in this process and would be lost when the command ends.
    """
    is_stored = token.status.place != "memory"
    if not is_stored and not new:
        raise NoKeyring(
            N_("There is no token to show."),
            N_(
                "This system has no keyring, so `hearth serve` creates and prints a token at each "
                "start."
            ),
            N_(
                "Use the one that it printed. For one that stays, save the output of `hearth "
                "clients token --new` in a file that only you can read, and start `hearth serve "
                "--token-file FILE`; or set HEARTH_API_TOKEN in the environment."
            ),
        )
    if not is_stored:
        out.note(
            N_(
                "This system has no keyring, so this token is stored nowhere. Save it in a file "
                "that only you can read, and start `hearth serve --token-file FILE`."
            )
        )
    elif token.status.warning:
        out.note(token.status.warning)
    out.value(
        {"token": token.secret.reveal(), "token_place": token.status.place}, token.secret.reveal
    )


def uses_table(uses: list[ApiUse]) -> str:
    """Format requests as a table for people; "" if there are none."""
    return table([*map(_use_row, uses)], USES_HEAD)


def _use_row(use: ApiUse) -> tuple[str, ...]:
    time = datetime.fromtimestamp(use.started, tz=UTC).astimezone()
    return (
        time.strftime("%Y-%m-%d %H:%M:%S"),
        short_name(use.client) or N_("no valid key"),
        use.address,
        use.endpoint,
        use.model or "-",
        N_("{count} tokens", count=f"{use.prompt_tokens:,}"),
        N_("{count} tokens", count=f"{use.completion_tokens:,}"),
        str(use.status),
    )


def _row(client: ApiClient) -> tuple[str, ...]:
    limits = [
        N_("{count} a minute", count=client.per_minute) if client.per_minute else "",
        N_("{at_once} at once", at_once=client.at_once) if client.at_once else "",
    ]
    return (
        short_name(client.name),
        ", ".join(client.models) or N_("all models"),
        joined(", ", limits) or N_("no limit"),
    )


def _described(client: ApiClient) -> dict[str, Any]:
    """Return a client's fields without the hash of its key."""
    fields = asdict(client)
    del fields["digest"]
    return fields


_NAME = Argument("name", N_("the program's name"), metavar="NAME", offers="clients")

COMMAND = Command(
    "clients",
    "manage the programs that may use the server, each with its own key",
    verbs=(
        Command(
            "add",
            "create a key for a program",
            _add,
            (
                _NAME,
                Argument(
                    "--models",
                    "the models that it may use, separated by commas; by default all",
                    type=lambda text: [name.strip() for name in text.split(",") if name.strip()],
                    default=[],
                    metavar="M,M",
                ),
                Argument(
                    "--limit",
                    "at most N requests a minute; by default any number",
                    type=count,
                    default=0,
                    metavar="N",
                ),
                Argument(
                    "--at-once",
                    "at most N requests at the same time; by default any number",
                    type=count,
                    default=0,
                    metavar="N",
                ),
            ),
        ),
        Command("list", "list the programs that have a key", _list),
        Command("rm", "withdraw a program's key", _remove, (_NAME,), aliases=("remove",)),
        Command(
            "uses",
            "show who used the server and when, without any text",
            _uses,
            (
                Argument(
                    "--limit",
                    "the last N requests; by default 100",
                    type=positive,
                    default=100,
                    metavar="N",
                ),
            ),
        ),
        Command(
            "token",
            "show the server's own token",
            _token,
            (Argument("--new", "replace it with a new one", action="store_true"),),
        ),
    ),
)
