"""The app's own Hub client, talking to a Hub on this computer."""

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
    """Yield a function that makes a client with a token, or with none."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    gate = Gate(ledger.append, lambda: True)
    yield lambda token: Hub(gate, lambda: token)
    gate.close()
