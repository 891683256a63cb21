"""Records of loads: newest first, and limited in number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.db import Database
from app.models.library.store import load_records as module
from app.models.library.store.load_records import LoadStore
from app.models.library.values.load_records import LoadRecord
from engines.types import LlamaPlan

LOAD = LoadRecord("a.gguf", "A processor", 4096, "f16", True, 4, True, 100, 101, 120, 130, 1.5)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LoadStore]:
    database = Database(tmp_path / "chats.db")
    yield LoadStore(database)
    database.close()


def test_the_last_load_of_a_model_comes_back_whole(store: LoadStore) -> None:
    assert store.last("a.gguf") is None
    newer = replace(LOAD, context=8192, kv_type="q8_0", exact=False, when=2.5)
    for load in (LOAD, newer, replace(LOAD, model="b.gguf")):
        store.add(load)
    assert store.last("a.gguf") == newer
    plan = LlamaPlan(Path("a.gguf"), 4096, 1, 1, draft_max=4)
    assert store.last_of(plan) == LOAD
    assert store.last_of(replace(plan, kv_type="q8_0")) is None
    assert store.last_of(replace(plan, mmap=False)) is None
    assert store.last_of(replace(plan, draft_max=0)) is None


def test_the_newest_on_a_device(store: LoadStore) -> None:
    for context in range(5):
        store.add(replace(LOAD, context=context))
    store.add(replace(LOAD, device="A card"))
    assert [load.context for load in store.on_device("A processor", 3)] == [4, 3, 2]


def test_the_oldest_leave(store: LoadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LOADS", 3)
    for context in range(5):
        store.add(replace(LOAD, context=context))
    assert [load.context for load in store.on_device("A processor", 9)] == [4, 3, 2]
