"""Which model is loaded when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.services.runtime import Runtime
from engines.cancel import CancelToken
from engines.errors import ModelNotFound, NotEnoughMemory
from engines.hardware import Hardware, detect
from engines.planner import Wishes
from tests.app.services.conftest import Services


def test_the_same_model_with_the_same_wishes_is_loaded_once(services: Services) -> None:
    entry = services.library.find("starter")
    for _ in range(2):
        services.runtime.load(entry, Wishes(), lambda _: None, CancelToken())
    assert len(services.engine.plans) == 1
    services.runtime.load(entry, Wishes(context=1024), lambda _: None, CancelToken())
    assert [plan.context for plan in services.engine.plans][1] == 1024
    assert services.runtime.entry == entry


def test_unloading_forgets_the_model(services: Services) -> None:
    entry = services.library.find("starter")
    services.runtime.load(entry, Wishes(), lambda _: None, CancelToken())
    services.runtime.unload()
    assert services.runtime.entry is None
    services.runtime.load(entry, Wishes(), lambda _: None, CancelToken())
    assert len(services.engine.plans) == 2


def test_a_missing_file_keeps_the_model_that_is_loaded(services: Services, tmp_path: Path) -> None:
    entry = services.library.find("starter")
    services.runtime.load(entry, Wishes(), lambda _: None, CancelToken())
    gone = services.library.find(str(tmp_path / "gone.gguf"))
    with pytest.raises(ModelNotFound):
        services.runtime.load(gone, Wishes(), lambda _: None, CancelToken())
    assert services.runtime.entry == entry


def test_a_model_too_big_for_the_memory_is_refused_before_the_engine_sees_it(
    services: Services,
) -> None:
    def poor() -> Hardware:
        found = detect()
        return replace(found, memory=replace(found.memory, available_bytes=1_000_000))

    runtime = Runtime(services.engine, poor)
    with pytest.raises(NotEnoughMemory):
        runtime.load(services.library.find("starter"), Wishes(), lambda _: None, CancelToken())
    assert services.engine.plans == []
