"""`hearth connections`: outgoing connections, made or blocked, and requests to the server."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.api.commands.clients import uses_table
from app.api.values import ApiUse
from app.kit.terminal.arguments import positive
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, size, table
from app.net.values.connections import LoggedConnection
from engines.sentences import N_, joined

if TYPE_CHECKING:
    from app.wiring.app import App

_RESULTS = {"refused": N_("refused"), "failed": N_("failed"), "cancelled": N_("cancelled")}
_NO_CONNECTIONS = N_("No connection has left this computer.")
_HEAD = (N_("When"), N_("Host"), N_("Purpose"), N_("Sent"), N_("Received"), N_("Result"))


def connections(app: App, args: argparse.Namespace, out: Output) -> int:
    """List outgoing connections and incoming requests; a request also has its client's name."""
    if args.clear:
        count = app.ledger.clear() + app.api_keys.clear_uses()
        out.value(
            {"cleared": count},
            lambda: N_("Cleared {count} connections from the list.", count=count),
        )
        return 0
    outgoing = app.ledger.connections(args.limit)
    incoming = app.api_keys.uses(args.limit)

    def human() -> str:
        parts = [table([*map(_row, outgoing)], _HEAD) or _NO_CONNECTIONS]
        if incoming:
            head = N_("Requests of programs to this computer’s server:")
            parts.append(joined("\n", (head, uses_table(incoming))))
        return joined("\n\n", parts)

    lines = [*map(asdict, outgoing), *map(_as_connection, incoming)]
    newest = sorted(lines, key=lambda line: -float(line["started"]))
    out.value(newest[: args.limit], human)
    return 0


def _as_connection(use: ApiUse) -> dict[str, Any]:
    """Describe a request with the same fields as an outgoing connection, plus its own."""
    fields = asdict(use)
    return {
        "started": fields.pop("started"),
        "seconds": fields.pop("seconds"),
        "host": fields.pop("address"),
        "port": fields.pop("port"),
        "purpose": N_("answer a program"),
        "method": fields.pop("method"),
        "sent": fields.pop("sent"),
        "received": fields.pop("received"),
        "result": str(fields.pop("status")),
        "proxy": None,
        **fields,
    }


def _row(connection: LoggedConnection) -> tuple[str, ...]:
    time = datetime.fromtimestamp(connection.started, tz=UTC).astimezone()
    host = f"{connection.host}:{connection.port}"
    return (
        time.strftime("%Y-%m-%d %H:%M:%S"),
        N_("{host} by {proxy}", host=host, proxy=connection.proxy) if connection.proxy else host,
        N_(connection.purpose),
        size(connection.sent),
        size(connection.received),
        _RESULTS.get(connection.result, connection.result),
    )


COMMAND = Command(
    "connections",
    "list every connection that left this computer, with its reason, and every request to the "
    "server",
    connections,
    (
        Argument("--clear", "empty the list", action="store_true"),
        Argument(
            "--limit",
            "the last N lines; by default 100",
            type=positive,
            default=100,
            metavar="N",
        ),
    ),
)
