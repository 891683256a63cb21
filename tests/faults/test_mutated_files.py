"""Thousands of damaged model files: each ends in a clear error or a working load, never worse.

The probe of the app refuses the files that end the process that tries them. There are few, because
the guards know most faults; the test prints them, so that the next guard can be written.
"""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from engines.cancel import CancelToken
from engines.errors import EngineError, ModelRefused
from engines.llamacpp.probe import Probe
from tests.faults.gguf_parts import put_together, take_apart
from tests.faults.mutations import MUTATIONS, mutate
from tests.faults.trying import Outcomes, Worker, attempt
from tests.faults.victims import Victim, victims

FILES = 2016
SAMPLE = 200
"""The number of these files that are tried without `--all`."""
SEED = 20_261_121
MOST_DEATHS = 0.01
"""The largest share of files that may end the process; a few must still be left for the probe."""


def damage(victim: Victim, count: int, folder: Path) -> Outcomes:
    """Try `count` damaged copies. Those that end the worker stay in the folder."""
    folder.mkdir()
    random = Random(f"{SEED} {victim.name}")
    parts = take_apart(victim.data)
    assert put_together(parts) == victim.data
    outcomes = Outcomes()
    with Worker(folder) as worker:
        sound = folder / "sound.gguf"
        sound.write_bytes(victim.data)
        attempt(worker, victim.plan(sound), sound, outcomes)
        assert outcomes.loaded == 1, outcomes
        for number in range(count):
            how, data = mutate(random, victim.data, parts)
            damaged = folder / f"{victim.name}-{number}-{how}.gguf"
            damaged.write_bytes(data)
            if not attempt(worker, victim.plan(damaged), damaged, outcomes):
                damaged.unlink()
    return outcomes


@pytest.mark.timeout(600)
def test_no_damaged_file_does_harm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], exhaustive: bool
) -> None:
    count = FILES if exhaustive else SAMPLE
    chosen = victims(tmp_path)
    share = count / sum(victim.weight for victim in chosen)
    total = Outcomes()
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as threads:
        tried = threads.map(
            lambda victim: damage(victim, round(share * victim.weight), tmp_path / victim.name),
            chosen,
        )
        for victim, outcomes in zip(chosen, tried, strict=True):
            total.add(outcomes)
            with capsys.disabled():
                print(f"\n{victim.name}: {outcomes}", end="")
    with capsys.disabled():
        print(f"\nall: {total}")
    assert total.files >= 0.98 * count
    assert total.loaded > total.files // 10, "most damage is found: too little gets through"
    assert total.library.total() > total.files // 10, "the headers' checks find everything"
    assert total.count_deaths() < MOST_DEATHS * total.files
    assert not total.crashes, "a bug of Hearth's own ended the process"
    for files in total.deaths.values():
        refuse(files[0], chosen)
    shutil.rmtree(tmp_path)


def refuse(file: Path, chosen: list[Victim]) -> None:
    """Check that the app's own probe, which is a process for each file, refuses it as well."""
    plan = next(v.plan(file) for v in chosen if v.name == file.parent.name)
    with pytest.raises(EngineError) as caught:
        Probe().require_safe(plan, CancelToken())
    assert isinstance(caught.value, ModelRefused)
    assert caught.value.why.endswith(".")


def test_every_kind_of_damage_changes_something(tmp_path: Path) -> None:
    victim = next(v for v in victims(tmp_path) if v.name == "llama")
    parts = take_apart(victim.data)
    for mutation in MUTATIONS:
        made = {mutation(Random(seed), victim.data, parts) for seed in range(20)}
        assert len(made - {victim.data}) > 5, mutation.__name__
    assert put_together(parts) == victim.data, "a mutation changed the parts it was given"


def test_the_same_seed_damages_in_the_same_way(tmp_path: Path) -> None:
    victim = next(v for v in victims(tmp_path) if v.name == "llama")
    one, other = (mutate(Random(7), victim.data) for _ in range(2))
    assert one == other
