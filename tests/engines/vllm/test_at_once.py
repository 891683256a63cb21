"""Several answers at once, and answers with an adapter, on a server like vLLM."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import AdapterUnknown
from engines.types import Adapter
from engines.vllm.engine import VllmEngine
from tests.engines.vllm.faked import (
    PLAN,
    SHORT_GRACE_S,
    answer,
    behave,
    load,
    make_engine,
    make_fake,
    question,
)

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only"),
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """Return the folder of a made environment."""
    folder = tmp_path / "fake"
    make_fake(folder)
    return folder


@pytest.fixture
def engine(fake: Path, tmp_path: Path) -> Iterator[VllmEngine]:
    engine = make_engine(make_fake(fake), tmp_path / "engine", grace_s=SHORT_GRACE_S)
    yield engine
    engine.close()


def test_as_many_answers_as_the_plan_says(engine: VllmEngine, fake: Path) -> None:
    behave(fake, token_s=0.01)
    load(engine, replace(PLAN, parallel=2))
    one, two, three = (engine.chat(question(max_tokens=5), CancelToken()) for _ in range(3))
    next(one)
    next(two)
    with pytest.raises(RuntimeError, match="busy"):
        next(three)
    list(one)
    list(two)
    assert answer(engine, max_tokens=1) == " word0"


def test_speeds_beside_others_are_no_measure_of_drafts(engine: VllmEngine, fake: Path) -> None:
    behave(fake, token_s=0.001)
    load(engine, replace(PLAN, parallel=2))
    one, two = (engine.chat(question(max_tokens=40), CancelToken()) for _ in range(2))
    next(one)
    list(two)
    list(one)
    book = fake.parent / "engine" / "speeds.json"
    assert not book.exists()
    answer(engine, max_tokens=40)
    assert len(json.loads(book.read_text())) == 1


def test_an_adapter_is_asked_for_by_its_name(engine: VllmEngine, fake: Path) -> None:
    (fake / "adapter_config.json").write_text('{"r": 8}')
    load(engine, replace(PLAN, adapters=(Adapter("law", fake), Adapter("verse", fake))))
    assert answer(engine, max_tokens=40, adapter="law")
    assert json.loads((fake / "asked.json").read_text())["model"] == "law"
    assert not (fake.parent / "engine" / "speeds.json").exists(), "no speed of the model by itself"
    assert answer(engine, max_tokens=1)
    assert json.loads((fake / "asked.json").read_text())["model"] == "model"
    with pytest.raises(AdapterUnknown) as caught:
        answer(engine, adapter="prose")
    assert "“law”, “verse”" in caught.value.why
    assert caught.value.action is not None
    assert caught.value.action.value == "vllm_adapters"
    assert engine.is_healthy
