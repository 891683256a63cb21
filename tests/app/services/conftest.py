"""Services over a real database are there for every test."""

from __future__ import annotations

from tests.support.services import services  # noqa: F401  a fixture
