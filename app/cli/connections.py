"""`hearth connections`: connections that left this computer, or were kept from leaving it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from app.cli.arguments import positive
from app.cli.command import Command
from app.cli.output import Output, size, table
from app.core.network.connections import LoggedConnection

if TYPE_CHECKING:
    from app.wiring.app import App

_NONE = "No connection has left this computer."
_HEAD = ("When", "Host", "Purpose", "Sent", "Received", "Result")


def connections(app: App, args: argparse.Namespace, out: Output) -> int:
    if args.clear:
        count = app.ledger.clear()
        out.value({"cleared": count}, lambda: f"Cleared {count} connections from the list.")
        return 0
    found = app.ledger.connections(args.limit)
    out.value(
        [asdict(connection) for connection in found],
        lambda: table([_HEAD, *map(_row, found)]) if found else _NONE,
    )
    return 0


def _row(connection: LoggedConnection) -> tuple[str, ...]:
    when = datetime.fromtimestamp(connection.started, tz=UTC).astimezone()
    host = f"{connection.host}:{connection.port}"
    return (
        when.strftime("%Y-%m-%d %H:%M:%S"),
        f"{host} by {connection.proxy}" if connection.proxy else host,
        connection.purpose,
        size(connection.sent),
        size(connection.received),
        connection.result,
    )


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--clear", action="store_true", help="empty the list")
    parser.add_argument(
        "--limit", type=positive, default=100, metavar="N", help="the last N lines; by default 100"
    )


COMMAND = Command(
    "connections",
    "every connection that left this computer, and why",
    connections,
    declare=_declare,
)
