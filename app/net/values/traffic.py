"""Totals of the ledger of connections, and the search in it; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.net.values.connections import PURPOSES, LoggedConnection, Purpose

REFUSED = "refused"
"""The result of a connection that was refused because Hearth was offline."""


@dataclass(frozen=True)
class Traffic:
    """The totals of the connections in the ledger.

    Attributes:
        hosts: Hosts that were reached.
        since: Start of the oldest connection, in seconds since 1970.
        count: Number of connections that left this computer.
        refused: Number of connections that were refused.
        sent: Bytes sent.
        received: Bytes received.
        purposes: Purposes of the connections that left.
    """

    hosts: tuple[str, ...]
    since: float
    count: int
    refused: int
    sent: int
    received: int
    purposes: tuple[Purpose, ...]


def traffic(connections: Sequence[LoggedConnection]) -> Traffic | None:
    """Return the totals of connections; None if there are none."""
    if not connections:
        return None
    sent_out = [connection for connection in connections if connection.result != REFUSED]
    purposes = {connection.purpose for connection in sent_out}
    return Traffic(
        hosts=tuple(sorted({connection.host for connection in sent_out})),
        since=min(connection.started for connection in connections),
        count=len(sent_out),
        refused=len(connections) - len(sent_out),
        sent=sum(connection.sent for connection in sent_out),
        received=sum(connection.received for connection in sent_out),
        purposes=tuple(purpose for purpose in PURPOSES if purpose in purposes),
    )


def matching(connections: Sequence[LoggedConnection], words: str) -> list[LoggedConnection]:
    """Return the connections whose host, purpose or result contain all of these words."""
    terms = words.lower().split()
    return [
        connection
        for connection in connections
        if all(
            word in f"{connection.host} {connection.purpose} {connection.result}".lower()
            for word in terms
        )
    ]
