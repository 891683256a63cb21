"""The fixtures of models in every place, for the tests of the whole library."""

from __future__ import annotations

from tests.app.models.library.services.places.conftest import here  # noqa: F401  a fixture
