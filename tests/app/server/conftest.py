from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.services import Services, services  # noqa: F401  a fixture
from tests.support.serving import Served, serving


@pytest.fixture
def served(services: Services) -> Iterator[Served]:  # noqa: F811  the fixture
    with serving(services) as served:
        yield served
