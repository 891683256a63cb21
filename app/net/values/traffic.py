"""Sums over the ledger of connections, and the search in it: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.net.values.connections import PURPOSES, LoggedConnection, Purpose

REFUSED = "refused"
"""The result of what was kept from leaving, because Hearth was offline."""


@dataclass(frozen=True)
class Traffic:
    """The sum of the connections in the ledger.

    hosts: that were reached. since: of the oldest connection, in seconds since 1970. count:
    connections that left. refused: those kept from leaving. sent, received: bytes. purposes: of
    what left.
    """

    hosts: tuple[str, ...]
    since: float
    count: int
    refused: int
    sent: int
    received: int
    purposes: tuple[Purpose, ...]


def traffic(connections: Sequence[LoggedConnection]) -> Traffic | None:
    """Sum connections up; None if there are none."""
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
    """Find the connections in whose host, purpose or result each of these words stands."""
    wanted = words.lower().split()
    return [
        it
        for it in connections
        if all(word in f"{it.host} {it.purpose} {it.result}".lower() for word in wanted)
    ]
