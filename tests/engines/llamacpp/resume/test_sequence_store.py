"""Sequences that are not live: which ones stay in memory, and which go to disk."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path

from engines.llamacpp.resume.sequence_store import SequenceStore, StatesInMemory
from engines.llamacpp.resume.states import StateFolder
from tests.engines.llamacpp.resume.test_states import KEY, record


def test_memory_drops_what_was_used_longest_ago() -> None:
    memory = StatesInMemory(3500)
    kept = [record(str(at), used=at) for at in range(4)]
    assert [memory.add(one) for one in kept] == [[], [], [], [kept[0]]]
    assert memory.records == kept[1:]
    large = record(size=5000)
    assert memory.add(large) == [large]
    assert memory.records == kept[1:]
    longer = replace(kept[2], tokens=array("i", range(120)))
    assert memory.add(longer) == []
    assert memory.records == [kept[1], kept[3], longer]


def test_a_chat_too_large_for_memory_goes_to_disk_beside_what_memory_has_of_it(
    tmp_path: Path,
) -> None:
    folder = StateFolder(tmp_path, 20_000)
    kept = SequenceStore(3500, folder, KEY)
    branch = record(count=50)
    kept.add(branch)
    grown = replace(record(count=300, size=5000), tokens=array("i", range(1000, 1300)))
    kept.add(grown)
    assert [entry.head.tokens for entry in folder.entries(KEY)] == [grown.tokens]
    assert [found for _, _, found in kept.with_token(0, 0)] == [branch]
