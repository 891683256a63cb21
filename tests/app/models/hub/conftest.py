"""The app's own client of the Hub, talking to a Hub on this computer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from app.models.hub.client import Hub
from app.net import Gate
from app.net.values.connections import LoggedConnection
from tests.hub.testhub import TestHub


@pytest.fixture
def ledger() -> list[LoggedConnection]:
    return []


@pytest.fixture
def client(
    hub: TestHub, ledger: list[LoggedConnection], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str | None], Hub]]:
    """Makes clients with a token, or none."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    gate = Gate(ledger.append, lambda: True)
    yield lambda token: Hub(gate, lambda: token)
    gate.close()
