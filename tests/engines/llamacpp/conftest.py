"""Loaded engines for the tests; loading one takes about a tenth of a second."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.resume.states import StateFolder
from engines.types import LlamaPlan
from tests.engines.llamacpp.drafting import STARTER_DRAFTER, Pair
from tests.engines.llamacpp.random_models import STARTER, write_random_llama, write_random_mamba
from tests.support.made_apart import cut_off
from tests.support.made_fed import write_dflash, write_eagle
from tests.support.mtp_models import (
    QWEN_NEXT,
    quantised,
    write_mamba,
    write_qwen,
    write_step,
)
from tests.support.suite import sampled
from tests.support.trusting import TrustingProbe

Load = Callable[..., LlamaCppEngine]


@pytest.fixture
def load() -> Iterator[Load]:
    """Return a function that makes an engine with a model: `load(path, context=512, ...)`."""
    engines = []

    def make(
        model: Path = STARTER, states: StateFolder | None = None, **plan: object
    ) -> LlamaCppEngine:
        engine = LlamaCppEngine(states=states, probe=TrustingProbe())
        engines.append(engine)
        values = {"context": 1024, "threads": 1, "batch_threads": 1} | plan
        engine.load(LlamaPlan(model, **values), lambda _: None, CancelToken())  # type: ignore[arg-type]
        return engine

    yield make
    for engine in engines:
        engine.close()


@pytest.fixture(scope="session")
def random_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tiny model with random weights, whose answers contain invalid UTF-8."""
    return write_random_llama(tmp_path_factory.mktemp("models") / "random-llama.gguf")


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """Return SmolLM2-135M-Instruct, a trained model; without it, the test is skipped."""
    model = Path(os.environ.get("HEARTH_SMOLLM2", ""))
    if not model.is_file():
        pytest.skip("HEARTH_SMOLLM2 names no model; `python3 run.py test --real` fetches it")
    return model


@pytest.fixture(scope="session")
def random_mamba(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tiny model with random weights and a recurrent state."""
    return write_random_mamba(tmp_path_factory.mktemp("models") / "random-mamba.gguf")


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    folder = tmp_path_factory.mktemp("drafting")
    head, heads = write_qwen(folder / "qwen.gguf"), write_step(folder / "step.gguf")
    trunk = write_qwen(folder / "no-head.gguf", drafts=False)
    marked = write_qwen(folder / "next.gguf", QWEN_NEXT)
    marked_trunk = write_qwen(folder / "next-no-head.gguf", QWEN_NEXT, drafts=False)
    return {
        "drafter": Pair(STARTER, STARTER_DRAFTER),
        "head": Pair(head),
        "heads": Pair(heads),
        "head apart": Pair(*cut_off(head, folder / "trunk.gguf", folder / "mtp-trunk.gguf")),
        "model": Pair(STARTER, quantised(STARTER, folder / "small.gguf", "Q8_0")),
        "eagle": Pair(trunk, write_eagle(folder / "eagle.gguf")),
        "dflash": Pair(trunk, write_dflash(folder / "dflash.gguf")),
        "dflash 2": Pair(trunk, write_dflash(folder / "dflash2.gguf", second=True)),
        "dspark": Pair(trunk, write_dflash(folder / "dspark.gguf", markov=True)),
        # A drafter in a separate file, beside the head in the model's file.
        "eagle and head": Pair(head, write_eagle(folder / "eagle-too.gguf")),
        "heads apart": Pair(*cut_off(heads, folder / "stem.gguf", folder / "mtp-stem.gguf")),
        # Memories that can only go back as a whole.
        "marked head": Pair(marked),
        "marked eagle": Pair(marked_trunk, write_eagle(folder / "eagle-next.gguf")),
        "marked dflash": Pair(marked_trunk, write_dflash(folder / "dflash-next.gguf")),
        "marked": Pair(*write_mamba(folder / "mamba.gguf", folder / "small-llama.gguf")),
    }


DRAFTING = (
    "drafter", "head", "heads", "head apart", "heads apart", "model", "eagle", "dflash",
    "dflash 2", "dspark", "eagle and head", "marked head", "marked eagle", "marked dflash",
    "marked",
)  # fmt: skip


FEW_DRAFTING = ("drafter", "heads", "model", "eagle", "dspark", "marked head", "marked")
"""Those that run without `--all`: one of each kind of drafter and of memory."""


@pytest.fixture(params=sampled(DRAFTING, FEW_DRAFTING))
def pair(request: pytest.FixtureRequest, pairs: dict[str, Pair]) -> Pair:
    return pairs[request.param]


@pytest.fixture
def engine(load: Load, pair: Pair) -> LlamaCppEngine:
    return load(pair.model, drafter=pair.drafter, context=512)
