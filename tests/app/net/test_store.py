"""The ledger of connections, on a real database."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.db import Database
from app.net import store as module
from app.net.store import Ledger
from app.net.values.connections import LoggedConnection


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    database = Database(tmp_path / "chats.db")
    yield Ledger(database)
    database.close()


def connection(number: int, proxy: str | None = None) -> LoggedConnection:
    return LoggedConnection(
        started=1_800_000_000.0 + number,
        seconds=0.25,
        host="hub.example",
        port=443,
        purpose="download a model",
        method="GET",
        sent=number,
        received=5_000_000_000,
        result="200",
        proxy=proxy,
    )


def test_what_goes_in_comes_out_the_newest_first(ledger: Ledger) -> None:
    added = [connection(1), connection(2, "proxy.example:3128"), connection(3)]
    for one in added:
        ledger.add(one)
    assert ledger.connections(10) == added[::-1]
    assert ledger.connections(1) == added[2:]


def test_only_the_last_ones_are_kept(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.MOST_CONNECTIONS == 20_000
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 5)
    for number in range(12):
        ledger.add(connection(number))
    assert [one.sent for one in ledger.connections(100)] == [11, 10, 9, 8, 7]


def test_clearing_empties_it_and_it_goes_on(ledger: Ledger) -> None:
    for number in range(3):
        ledger.add(connection(number))
    assert ledger.clear() == 3
    assert ledger.connections(10) == []
    ledger.add(connection(9))
    assert [one.sent for one in ledger.connections(10)] == [9]


def test_any_thread_may_write(ledger: Ledger) -> None:
    threads = [threading.Thread(target=ledger.add, args=(connection(n),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.sent for one in ledger.connections(10)} == set(range(8))
