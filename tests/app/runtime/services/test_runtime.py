"""Loading, keeping and unloading models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.base.shipped import STARTER_DRAFTER
from app.models.library.services.fitting import Fitting
from app.models.library.values.entry import ModelEntry
from app.runtime.services.loaders import LlamaLoader
from app.runtime.services.runtime import Runtime
from engines.cancel import CancelToken
from engines.errors import ModelNotFound, NotEnoughMemory
from engines.hardware import Hardware, detect
from engines.llamacpp.sizing.sizer import Sizer
from engines.memory.load_options import LoadOptions
from engines.types import MAX_DEPTH, LoadPlan
from tests.engines.gguf_files import write_assistant
from tests.support.services import Services


def load(services: Services, entry: ModelEntry, load_options: LoadOptions | None = None) -> None:
    services.runtime.lease(
        entry, load_options or LoadOptions(), lambda _: None, CancelToken()
    ).close()


def test_the_same_model_with_the_same_wishes_is_loaded_once(services: Services) -> None:
    entry = services.library.find("starter")
    for _ in range(2):
        load(services, entry)
    assert len(services.engine.plans) == 1
    load(services, entry, LoadOptions(context=1024))
    assert [plan.context for plan in services.engine.plans][1] == 1024
    assert services.runtime.loaded_model("llamacpp") == entry


def test_unloading_forgets_the_model(services: Services) -> None:
    entry = services.library.find("starter")
    load(services, entry)
    services.runtime.unload()
    assert services.runtime.loaded_model("llamacpp") is None
    load(services, entry)
    assert len(services.engine.plans) == 2


def test_a_missing_file_keeps_the_model_that_is_loaded(services: Services, tmp_path: Path) -> None:
    entry = services.library.find("starter")
    load(services, entry)
    gone = services.library.find(str(tmp_path / "gone.gguf"))
    with pytest.raises(ModelNotFound):
        load(services, gone)
    assert services.runtime.loaded_model("llamacpp") == entry


def test_a_model_too_big_for_the_memory_is_refused_before_the_engine_sees_it(
    services: Services,
) -> None:
    def poor() -> Hardware:
        found = detect()
        return replace(found, memory=replace(found.memory, available_bytes=1_000_000))

    runtime = Runtime(
        {
            "llamacpp": LlamaLoader(
                lambda: services.engine, lambda: Fitting(poor, services.loads, Sizer())
            )
        }
    )
    with pytest.raises(NotEnoughMemory):
        runtime.lease(
            services.library.find("starter"), LoadOptions(), lambda _: None, CancelToken()
        )
    assert services.engine.plans == []


class TestDrafter:
    def load(self, services: Services, entry: ModelEntry, mtp: bool = True) -> LoadPlan:
        load(services, entry, LoadOptions(mtp=mtp))
        return services.engine.plans[-1]

    def test_it_is_loaded_with_its_model(self, services: Services) -> None:
        plan = self.load(services, services.library.find("starter"))
        assert (plan.drafter, plan.draft_max, plan.mtp_note) == (STARTER_DRAFTER, MAX_DEPTH, "")

    def test_off_for_good_leaves_it_out(self, services: Services) -> None:
        plan = self.load(services, services.library.find("starter"), mtp=False)
        assert (plan.drafter, plan.draft_max) == (None, 0)

    def test_a_model_is_loaded_without_a_drafter_of_another(
        self, services: Services, tmp_path: Path
    ) -> None:
        wrong = write_assistant(tmp_path / "wrong.gguf")
        entry = replace(services.library.find("starter"), drafter=wrong)
        plan = self.load(services, entry)
        assert plan.drafter is None
        assert "different vocabularies" in plan.mtp_note

    def test_a_model_is_loaded_without_a_drafter_that_has_gone(
        self, services: Services, tmp_path: Path
    ) -> None:
        entry = replace(services.library.find("starter"), drafter=tmp_path / "gone.gguf")
        plan = self.load(services, entry)
        assert plan.drafter is None
        assert "was not found" in plan.mtp_note

    def test_a_drafter_that_turns_up_is_loaded(self, services: Services) -> None:
        entry = services.library.find("starter")
        self.load(services, replace(entry, drafter=None))
        assert self.load(services, entry).drafter == STARTER_DRAFTER
