"""Models in every place where they can lie are there for tests beside the collection's own."""

from __future__ import annotations

from tests.app.models.library.services.places.conftest import here  # noqa: F401  a fixture
