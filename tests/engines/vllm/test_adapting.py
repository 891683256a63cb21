"""LoRA adapters that are added to a running worker and removed, on the small server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import AdapterUnknown
from engines.types import Adapter
from engines.vllm.engine import VllmEngine
from tests.engines.checkpoint_files import write_checkpoint
from tests.engines.vllm.faked import PLAN, answer, load, make_engine, make_fake


def adapter(folder: Path, name: str, rank: int = 8) -> Adapter:
    made = write_checkpoint(folder / name, {}, name="adapter_model.safetensors")
    (made / "adapter_config.json").write_text(f'{{"r": {rank}}}')
    return Adapter(name, made)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "fake"


@pytest.fixture
def engine(folder: Path, tmp_path: Path) -> Iterator[VllmEngine]:
    engine = make_engine(make_fake(folder), tmp_path / "worker")
    yield engine
    engine.close()


def adapt(engine: VllmEngine, *adapters: Adapter) -> bool:
    return engine.adapt("", adapters, CancelToken())


def test_adapters_come_and_go_without_a_new_start(
    engine: VllmEngine, folder: Path, tmp_path: Path
) -> None:
    law, verse = adapter(tmp_path, "law"), adapter(tmp_path, "verse")
    load(engine, replace(PLAN, adapters=(law,)))
    worker = engine.worker
    with pytest.raises(AdapterUnknown):
        answer(engine, adapter="verse")
    assert adapt(engine, law, verse)
    assert answer(engine, adapter="verse", max_tokens=2)
    assert adapt(engine, verse)
    with pytest.raises(AdapterUnknown):
        answer(engine, adapter="law")
    elsewhere = Adapter("verse", adapter(tmp_path / "new", "verse").path)
    assert adapt(engine, elsewhere)
    assert engine.worker is worker
    log = (folder / "adapters.log").read_text().splitlines()
    assert log == ["load verse", "unlo law", "unlo verse", "load verse"]


def test_a_crashed_worker_starts_again_with_the_adapters_it_had_last(
    engine: VllmEngine, tmp_path: Path
) -> None:
    law, verse = adapter(tmp_path, "law"), adapter(tmp_path, "verse")
    load(engine, replace(PLAN, adapters=(law,)))
    assert adapt(engine, law, verse)
    assert engine.worker is not None
    engine.worker.stop()
    engine.revive(lambda _: None, CancelToken())
    assert answer(engine, adapter="verse", max_tokens=2)


def test_what_a_worker_has_no_room_for_takes_a_new_start(
    engine: VllmEngine, tmp_path: Path
) -> None:
    law, large = adapter(tmp_path, "law"), adapter(tmp_path, "large", rank=64)
    assert not adapt(engine, law), "nothing is loaded"
    load(engine)
    assert not adapt(engine, law), "it was started without any"
    load(engine, replace(PLAN, adapters=(law,)))
    assert not adapt(engine, law, large), "its rank is higher"


def test_what_the_worker_refuses_takes_a_new_start_and_what_is_none_is_told(
    folder: Path, tmp_path: Path
) -> None:
    engine = make_engine(make_fake(folder, refuses="verse"), tmp_path / "worker")
    law, verse = adapter(tmp_path, "law"), adapter(tmp_path, "verse")
    try:
        load(engine, replace(PLAN, adapters=(law,)))
        assert not adapt(engine, law, verse)
        with pytest.raises(AdapterUnknown, match="gone"):
            adapt(engine, Adapter("gone", tmp_path / "gone"))
        assert answer(engine, adapter="law", max_tokens=2)
    finally:
        engine.close()
