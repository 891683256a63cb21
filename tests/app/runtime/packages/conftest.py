"""A package index on this computer and the app's own gate to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.net import Gate
from app.net.values.connections import LoggedConnection
from tests.support.package_index import PackageIndex


@pytest.fixture
def index() -> Iterator[PackageIndex]:
    index = PackageIndex()
    yield index
    index.close()


@pytest.fixture
def connections() -> list[LoggedConnection]:
    return []


@pytest.fixture
def gate(connections: list[LoggedConnection]) -> Iterator[Gate]:
    gate = Gate(connections.append, lambda: True)
    yield gate
    gate.close()
