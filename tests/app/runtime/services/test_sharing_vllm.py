"""Sharing a worker of vLLM with other Hearths, and ending unused workers."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.models.library.values.entry import ModelEntry
from app.runtime.services.loaders import LlamaLoader
from app.runtime.services.prepared_load import PreparedLoad
from app.runtime.services.prepared_vllm_load import worker_key
from app.runtime.services.runtime import Runtime
from app.runtime.services.vllm_loader import Sharing, VllmLoader
from engines.cancel import CancelToken
from engines.hardware.detect import detect
from engines.memory.load_options import LoadOptions
from engines.types import Adapter, LlamaPlan, VllmOptions
from tests.engines.checkpoint_files import DRAFTER, TARGET
from tests.support.houses import ScriptedWorker
from tests.support.scripted import ScriptedEngine

ENTRY = ModelEntry("guide", "Guide for vLLM", TARGET, drafter=DRAFTER, engine="vllm")


class Desk:
    """A runtime whose worker may be shared.

    Attributes:
        unused: How often unused workers were ended.
    """

    def __init__(self) -> None:
        self.worker = ScriptedWorker(("One ", "two."))
        self.wanted, self.stays_s, self.unused, self.made = True, 0.0, 0, 0
        sharing = Sharing(lambda: self.wanted, lambda: self.stays_s, self._end_unused)
        self.loader = VllmLoader(self._make, lambda: "cpu", detect, sharing=sharing)
        self.runtime = Runtime({"vllm": self.loader})

    def lease(self, entry: ModelEntry = ENTRY, load_options: LoadOptions | None = None) -> None:
        options = load_options or LoadOptions()
        self.runtime.lease(entry, options, lambda _: None, CancelToken()).close()

    def _make(self) -> ScriptedWorker:
        self.made += 1
        return self.worker

    def _end_unused(self) -> None:
        self.unused += 1


@pytest.fixture
def desk() -> Iterator[Desk]:
    found = Desk()
    yield found
    found.runtime.unload()


def test_a_worker_is_shared_where_it_may_stay(desk: Desk) -> None:
    desk.stays_s = 600.0
    desk.lease()
    (wanted,) = desk.worker.shared
    assert wanted
    desk.runtime.leave()
    assert desk.worker.stayed_s == 600.0
    assert desk.runtime.loaded_model("vllm") is None


def test_the_window_leaves_none_behind(desk: Desk) -> None:
    desk.lease()
    desk.runtime.leave()
    assert desk.worker.shared
    assert desk.worker.stayed_s is None
    assert desk.worker.status().state == "stopped"


def test_where_none_may_stay_none_is_shared_and_none_stays(desk: Desk) -> None:
    desk.wanted, desk.stays_s = False, 600.0
    desk.lease()
    assert desk.unused, "one that has stayed until now would hold the memory"
    desk.runtime.leave()
    assert (desk.worker.shared, desk.worker.stayed_s) == ((), None)


def test_what_is_unloaded_for_another_model_does_not_stay(desk: Desk) -> None:
    desk.stays_s = 600.0
    desk.lease()
    desk.runtime.stop("vllm")
    assert desk.worker.stayed_s is None


def test_what_nobody_uses_makes_room_for_llama_cpp(desk: Desk) -> None:
    llama = ScriptedEngine(("One.",))
    loads = OfAnything(llama)
    runtime = Runtime({"llamacpp": loads, "vllm": desk.loader})
    entry = ModelEntry("g", "Gemma", Path("g.gguf"))
    runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken()).close()
    assert desk.unused == 1
    assert desk.made == 0, "vLLM's engine is not made for that"
    runtime.unload()


class OfAnything(LlamaLoader):
    """A loader that does not read the model's files."""

    def __init__(self, engine: ScriptedEngine) -> None:
        super().__init__(lambda: engine, lambda: pytest.fail("asked"))

    def open(self, entry: ModelEntry) -> PreparedLoad[LlamaPlan]:
        return Prepared(entry)


class Prepared(PreparedLoad[LlamaPlan]):
    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    def plan(self, _load_options: LoadOptions, _cancel: CancelToken) -> LlamaPlan:
        return LlamaPlan(self._entry.path, 512, 1, 1)


@pytest.fixture
def checkpoint(tmp_path: Path) -> ModelEntry:
    """Copy the checkpoint, so that the test may change it."""
    folder = tmp_path / "target"
    shutil.copytree(TARGET, folder)
    return replace(ENTRY, path=folder)


def test_the_same_is_worker_key_the_same_model(checkpoint: ModelEntry) -> None:
    same = replace(checkpoint, last_used=12.0)
    assert worker_key(checkpoint, LoadOptions()) == worker_key(same, LoadOptions())
    assert worker_key(checkpoint, LoadOptions()) == worker_key(same, LoadOptions(anyway=True))


@pytest.mark.parametrize(
    "other",
    [
        LoadOptions(context=1024),
        LoadOptions(mtp=False),
        LoadOptions(parallel=4),
        LoadOptions(kv_type="q8_0"),
        LoadOptions(vllm=VllmOptions(memory_share=0.5)),
        LoadOptions(adapters=(Adapter("a", DRAFTER),)),
    ],
)
def test_other_options_want_another_worker(checkpoint: ModelEntry, other: LoadOptions) -> None:
    assert worker_key(checkpoint, LoadOptions()) != worker_key(checkpoint, other)


def test_another_drafter_wants_another_worker(checkpoint: ModelEntry) -> None:
    other = replace(checkpoint, drafter=None)
    assert worker_key(checkpoint, LoadOptions()) != worker_key(other, LoadOptions())


def test_a_model_that_was_downloaded_anew_wants_another_worker(checkpoint: ModelEntry) -> None:
    before = worker_key(checkpoint, LoadOptions())
    weights = checkpoint.path / "model.safetensors"
    os.utime(weights, ns=(1, 1))
    assert worker_key(checkpoint, LoadOptions()) != before


def test_another_hearth_wants_another_worker(
    checkpoint: ModelEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = worker_key(checkpoint, LoadOptions())
    monkeypatch.setattr("app.runtime.services.prepared_vllm_load.__version__", "9.9.9")
    assert worker_key(checkpoint, LoadOptions()) != before


def test_of_a_model_that_is_gone_nothing_is_shared(checkpoint: ModelEntry) -> None:
    shutil.rmtree(checkpoint.path)
    assert worker_key(checkpoint, LoadOptions()) == ""
