"""A loopback Hub for a test; `tests/conftest.py` makes it available to all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hub.testhub import TestHub


@pytest.fixture
def hub() -> Iterator[TestHub]:
    """Open an empty Hub on this computer."""
    with TestHub() as running:
        yield running
