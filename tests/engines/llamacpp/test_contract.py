"""The engine contract on llama.cpp, with the starter model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engines.base import Engine
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import LoadPlan
from tests.engines.contract import EngineContract
from tests.engines.llamacpp.random_models import STARTER


class TestLlamaCpp(EngineContract):
    @pytest.fixture
    def engine(self) -> Iterator[Engine]:
        engine = LlamaCppEngine()
        yield engine
        engine.close()

    @pytest.fixture
    def plan(self) -> LoadPlan:
        return LoadPlan(STARTER, context=512, threads=1, batch_threads=1)
