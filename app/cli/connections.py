"""`hearth connections`: what left this computer, and what was kept from leaving it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from datetime import UTC, datetime

from app.cli.output import Output, size, table
from app.core.network.connections import LoggedConnection
from app.wiring import Core

_NONE = "No connection has left this computer."
_HEAD = ("When", "Host", "Purpose", "Sent", "Received", "Result")


def connections(core: Core, args: argparse.Namespace, out: Output) -> int:
    if args.clear:
        count = core.ledger.clear()
        out.value({"cleared": count}, lambda: f"Cleared {count} connections from the list.")
        return 0
    found = core.ledger.connections(args.limit)
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
