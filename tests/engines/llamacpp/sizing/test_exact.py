"""The size that is predicted before a load is the size of the load, for many architectures."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import load_native
from engines.llamacpp.sizing.account import allocated, read_account
from engines.llamacpp.sizing.child import size
from engines.llamacpp.sizing.sizer import Sizer
from engines.memory.buffers import CPU, Buffers
from engines.memory.fit import DraftNeed, need_by_library
from engines.memory.formula.caches import kv_bytes
from engines.memory.formula.compute import compute_bytes
from engines.memory.formula.weights import weights
from engines.memory.planner import by_formula
from engines.models.gguf.header import read_header
from engines.types import KvType, LlamaPlan
from tests.engines.llamacpp.opened import Opened
from tests.engines.llamacpp.sizing.conftest import Made
from tests.support.made_apart import cut_off
from tests.support.made_architectures import MODELS
from tests.support.made_fed import write_dflash, write_eagle
from tests.support.made_gguf import STARTER
from tests.support.mtp_models import (
    QWEN_NEXT,
    quantised,
    write_gemma,
    write_mamba,
    write_qwen,
    write_step,
)
from tests.support.paths import ROOT
from tests.support.suite import sampled
from tests.support.trusting import TrustingProbe

MIB: Final = 1 << 20
WAYS: Final[tuple[tuple[int, KvType, bool], ...]] = (
    (512, "f16", True), (3000, "q8_0", True), (8192, "f16", False), (8192, "q8_0", True)
)  # fmt: skip
"""Context, type of the KV cache and mmap: each of them changes another part of a load."""
SIZES: Final[tuple[tuple[int, KvType], ...]] = (
    (512, "f16"), (3000, "q8_0"), (8192, "f16"), (32768, "q8_0")
)  # fmt: skip


def loaded(plan: LlamaPlan) -> Buffers:
    """Return the buffers that the engine reports for a real load."""
    engine = LlamaCppEngine(probe=TrustingProbe())
    found = engine.load(plan, lambda _: None, CancelToken()).buffers
    engine.close()
    assert found is not None
    return found


def pair_of(kind: str, folder: Path) -> tuple[Path, Path | None]:
    """Return a model that drafts, and its drafter if that is a separate file."""
    model, drafter = folder / "m.gguf", folder / "d.gguf"
    makers: dict[str, Callable[[], tuple[Path, Path | None]]] = {
        "starter": lambda: (STARTER, STARTER.with_name("starter-mtp.gguf")),
        "gemma": lambda: write_gemma(model, drafter),
        "qwen": lambda: (write_qwen(model), None),
        "next": lambda: (write_qwen(model, QWEN_NEXT), None),
        "mamba": lambda: write_mamba(model, drafter),
        "model": lambda: (STARTER, quantised(STARTER, drafter, "Q8_0")),
        "apart": lambda: cut_off(write_qwen(folder / "whole.gguf"), model, drafter),
        "eagle": lambda: (write_qwen(model, drafts=False), write_eagle(drafter)),
        "dflash": lambda: (write_qwen(model, drafts=False), write_dflash(drafter)),
        "dflash 2": lambda: (write_qwen(model, drafts=False), write_dflash(drafter, second=True)),
        "eagle and head": lambda: (write_qwen(model), write_eagle(drafter)),
        "step": lambda: (write_step(model), None),
    }
    return makers[kind]()


def test_there_are_enough_architectures() -> None:
    assert len({architecture for architecture, *_ in MODELS.values()}) >= 12


@pytest.mark.parametrize("name", MODELS)
def test_within_half_a_per_cent_of_the_real_load(name: str, made: Made, exhaustive: bool) -> None:
    path = made(name)
    for context, kv, mmap in WAYS if exhaustive else WAYS[1:3]:
        plan = LlamaPlan(path, context, 1, 1, kv_type=kv, mmap=mmap, draft_max=0)
        said, real = size(plan), loaded(plan)
        where = f"{context} {kv} {mmap}"
        assert said.total == pytest.approx(real.total, rel=0.005), where
        assert said.own.weights == pytest.approx(real.own.weights, rel=0.005), where
        assert said.own.kv == pytest.approx(real.own.kv, rel=0.005), where
        assert said.own.compute == pytest.approx(real.own.compute, rel=0.005), where
        assert said.own.mapped <= said.own.weights
        assert bool(said.own.mapped) is bool(real.own.mapped) is mmap


@pytest.mark.parametrize("name", MODELS)
def test_the_formula_is_exact_but_for_computing_and_there_an_upper_estimate(
    name: str, made: Made
) -> None:
    path = made(name)
    header = read_header(path)
    assert header.layers is not None
    for context, kv in SIZES:
        if context > header.context_max:
            continue
        plan = LlamaPlan(path, context, 1, 1, kv_type=kv, draft_max=0)
        real = size(plan).own
        found = weights(header, lambda _: CPU, mmap=True, heads=False)[CPU]
        rows = min(plan.batch, context)
        assert (found.size, found.mapped) == (real.weights, real.mapped)
        cache = kv_bytes(header.layers, context, kv, rows)
        # The log rounds each cache to a hundredth of a mebibyte.
        assert cache == pytest.approx(real.kv, abs=0.02 * MIB)
        assert 0.99 <= compute_bytes(header, context, rows) / real.compute <= 1.3


@pytest.mark.parametrize(
    "kind",
    [
        "starter",
        "gemma",
        "qwen",
        "step",
        "apart",
        "model",
        "next",
        "mamba",
        "eagle",
        "dflash",
        "dflash 2",
        "eagle and head",
    ],
)
@pytest.mark.parametrize("depth", sampled([1, 4], [4]))
def test_what_drafts_ahead_is_counted_too(kind: str, depth: int, tmp_path: Path) -> None:
    model, drafter = pair_of(kind, tmp_path)
    plan = LlamaPlan(model, 2048, 1, 1, drafter=drafter, draft_max=depth)
    said, real = size(plan), loaded(plan)
    assert said.own.drafter == pytest.approx(real.own.drafter, rel=0.005, abs=0.02 * MIB)
    assert said.own.drafter > 0
    assert said.total == pytest.approx(real.total, rel=0.005)


@pytest.mark.parametrize("kind", ["starter", "step", "next", "mamba", "model", "eagle", "dflash"])
def test_each_answer_at_once_is_counted(kind: str, tmp_path: Path) -> None:
    model, drafter = pair_of(kind, tmp_path)
    header, its = read_header(model), read_header(drafter) if drafter else None
    plan = LlamaPlan(model, 2048, 1, 1, drafter=drafter, draft_max=3, parallel=3)
    said, real = size(plan), loaded(plan)
    assert said.total == pytest.approx(real.total, rel=0.005)
    drafting = DraftNeed(plan.draft_max, its)
    needed = need_by_library(said, header, 2048, "f16", plan.batch, drafting, 3)
    assert needed.parts.total == pytest.approx(by_formula(header, plan, its).parts.total, rel=0.3)
    alone = replace(plan, parallel=1)
    assert header.layers is not None
    cache = kv_bytes(header.layers, 2048, "f16", plan.batch)
    more = said.own.kv - size(alone).own.kv
    assert more >= 2 * cache - 0.1 * MIB


def test_a_sparse_file_of_the_true_size_is_as_good_as_the_real_one(tmp_path: Path) -> None:
    size_bytes = STARTER.stat().st_size
    header_end = STARTER.stat().st_size - read_header(STARTER).weight_bytes
    sparse = tmp_path / "sparse.gguf"
    with STARTER.open("rb") as real, sparse.open("wb") as file:
        file.write(real.read(header_end + 4096))
        file.truncate(size_bytes)
    said = [
        Sizer().buffers(LlamaPlan(path, 2048, 1, 1, draft_max=0), CancelToken())
        for path in (STARTER, sparse)
    ]
    assert said[0] == said[1]
    assert said[0].total == pytest.approx(
        loaded(LlamaPlan(STARTER, 2048, 1, 1, draft_max=0)).total, rel=0.005
    )


@pytest.mark.parametrize("name", ["llama", "llama tied"])
def test_what_is_not_repacked_is_the_file_alone(name: str, made: Made) -> None:
    path = made(name)
    plan = LlamaPlan(path, 512, 1, 1, draft_max=0, repack=False)
    said, real = size(plan), loaded(plan)
    assert said.own.weights == said.own.mapped
    assert real.own.weights == real.own.mapped
    assert said.own.weights == pytest.approx(real.own.weights, abs=0.02 * MIB)
    assert by_formula(read_header(path), plan, None).ram.weights == said.own.weights
    copied = replace(plan, repack=True)
    assert loaded(copied).own.weights > loaded(copied).own.mapped


def test_a_bare_context_reports_what_the_engine_does(made: Made) -> None:
    with load_native().log.listen() as lines:
        Opened(made("llama"), context=1024, batch=512, draft_max=0).close()
    assert allocated(read_account(lines)) == loaded(
        LlamaPlan(made("llama"), 1024, 1, 1, draft_max=0)
    )


@pytest.mark.parametrize(
    ("name", "way"),
    sampled(
        [
            ("llama", "mmap"), ("llama", "none"), ("qwen3moe", "mmap"), ("gemma3", "mmap"),
            ("granitehybrid", "none"), ("deepseek2", "mmap"), ("mamba", "mmap"),
        ],
        [("llama", "none"), ("qwen3moe", "mmap")],
    ),
)  # fmt: skip
def test_a_process_never_takes_more_than_the_estimate(name: str, way: str, made: Made) -> None:
    said = measured(made(name), way, 0)
    assert said["grown"] <= said["estimate"] + 16 * MIB
    assert said["grown"] >= 0.5 * said["buffers"]


@pytest.mark.parametrize(
    ("kind", "depth"),
    sampled([("qwen", 1), ("qwen", 3), ("step", 3), ("gemma", 4)], [("gemma", 4)]),
)
def test_nor_does_one_that_drafts(kind: str, depth: int, tmp_path: Path) -> None:
    model, drafter = pair_of(kind, tmp_path)
    said = measured(model, "none", depth, *([drafter] if drafter else []))
    assert said["grown"] <= said["estimate"] + 16 * MIB


def measured(model: Path, way: str, depth: int, *drafter: Path) -> dict[str, int]:
    """Load a model in a process that answers a long prompt; return its growth and the estimate."""
    words = (model, 4096, way, depth, *drafter)
    command = [sys.executable, "-m", "tests.support.measured_load", *map(str, words)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, int] = json.loads(run.stdout.splitlines()[-1])
    return found
