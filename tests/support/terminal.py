"""The terminal's commands in this process, over a scripted engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.cli.main import main
from engines.llamacpp import engine as llamacpp_engine
from tests.support.scripted import ScriptedEngine

Hearth = Callable[..., int]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    engine = ScriptedEngine()
    monkeypatch.setattr(llamacpp_engine, "LlamaCppEngine", lambda *_, **__: engine)
    return engine


@pytest.fixture
def hearth(engine: ScriptedEngine) -> Hearth:
    """Return a function that runs `hearth` with these words and returns the exit status."""
    return lambda *words: main(words)
