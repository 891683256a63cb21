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
    left = [it for it in connections if it.result != REFUSED]
    made = {it.purpose for it in left}
    return Traffic(
        hosts=tuple(sorted({it.host for it in left})),
        since=min(it.started for it in connections),
        count=len(left),
        refused=len(connections) - len(left),
        sent=sum(it.sent for it in left),
        received=sum(it.received for it in left),
        purposes=tuple(it for it in PURPOSES if it in made),
    )


def matching(connections: Sequence[LoggedConnection], words: str) -> list[LoggedConnection]:
    """Return the connections whose host, purpose or result contain all of these words."""
    wanted = words.lower().split()
    return [
        it
        for it in connections
        if all(word in f"{it.host} {it.purpose} {it.result}".lower() for word in wanted)
    ]
