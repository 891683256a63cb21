"""The probe's record of the files it tried, and how it recognises them."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from engines.llamacpp.probing.record import FILE_NAME, SAFE, ProbeRecord, identity
from engines.types import LlamaPlan
from tests.engines.llamacpp.random_models import STARTER

DRAFTER = STARTER.with_name("starter-mtp.gguf")
PLAN = LlamaPlan(STARTER, context=512, threads=1, batch_threads=1, drafter=DRAFTER)


def test_a_file_is_known_wherever_it_lies(tmp_path: Path) -> None:
    copy = replace(PLAN, model=Path(shutil.copy2(STARTER, tmp_path / "copy.gguf")))
    assert identity(copy) == identity(PLAN)
    assert identity(replace(copy, threads=7, context=99)) == identity(PLAN)
    os.utime(copy.model, ns=(1, 1))
    assert identity(copy) != identity(PLAN)


def test_every_part_of_a_model_counts(tmp_path: Path) -> None:
    first, second = (tmp_path / f"m-0000{part}-of-00002.gguf" for part in (1, 2))
    first.write_bytes(b"one")
    second.write_bytes(b"two")
    before = identity(plan := replace(PLAN, model=first))
    second.write_bytes(b"three")
    assert identity(plan) != before


def test_a_damaged_record_costs_a_new_try(tmp_path: Path) -> None:
    for content in ("", "[1]", "{", '{"x": 3}', "\udce9"):
        (tmp_path / FILE_NAME).write_text(content, "utf-8", "surrogateescape")
        assert ProbeRecord(tmp_path).get("x") is None
    record = ProbeRecord(tmp_path / "new")
    record.keep("one", SAFE)
    record.keep("two", "It fell.")
    again = ProbeRecord(tmp_path / "new")
    assert again.get("one") == SAFE
    assert again.get("two") == "It fell."


def test_a_record_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    record = ProbeRecord(in_the_way)
    record.keep("one", SAFE)
    assert record.get("one") == SAFE


def test_a_record_does_not_grow_for_ever(tmp_path: Path) -> None:
    record = ProbeRecord(None)
    for number in range(600):
        record.keep(str(number), SAFE)
    assert record.get("99") is None
    assert record.get("100") == SAFE
