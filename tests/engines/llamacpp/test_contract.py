"""The engine contract on llama.cpp, with the starter model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from engines.base import Engine
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import ChatRequest, LlamaPlan, Tool
from tests.engines.contract import GREEDY, EngineContract, ask
from tests.engines.llamacpp.random_models import STARTER


class TestLlamaCpp(EngineContract):
    answers_at_once = 4
    refuses_media = True

    @pytest.fixture
    def engine(self) -> Iterator[Engine]:
        engine = LlamaCppEngine()
        yield engine
        engine.close()

    @pytest.fixture
    def plan(self) -> LlamaPlan:
        return LlamaPlan(STARTER, context=512, threads=1, batch_threads=1)

    @pytest.fixture
    def in_parts(self, plan: LlamaPlan) -> LlamaPlan:
        return replace(plan, batch=64)

    @pytest.fixture
    def tooled(self) -> ChatRequest:
        """Require a call, as the model is too small to call a tool by itself."""
        tool = Tool("clock", "The time", {"type": "object", "properties": {}})
        asked = ask("How late is it?", tools=(tool,), tool_choice="required", max_tokens=120)
        return replace(asked, parallel_tools=False)

    @pytest.fixture
    def foreign(self) -> tuple[ChatRequest, str]:
        words = "Grüße, 日本, 🙂"
        sampling = replace(GREEDY, grammar=f'root ::= "{words}"')
        return ask("Hello", sampling=sampling, max_tokens=None), words
