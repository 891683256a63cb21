"""Estimates of a checkpoint's memory before it is loaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.models.library.services.fitting import FitReport
from app.models.library.values.entry import ModelEntry
from app.runtime.services.prepared_vllm_load import fit_report, fits_alone
from engines.hardware import Hardware, Memory
from engines.memory.load_options import LoadOptions
from tests.engines.checkpoint_files import QWEN3, write_checkpoint
from tests.support.machines import CPU, GIB, card

QWEN3_8B: dict[str, Any] = {
    **QWEN3, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
    "head_dim": 128, "hidden_size": 4096, "vocab_size": 151_936,
}  # fmt: skip


@pytest.fixture
def entry(tmp_path: Path) -> ModelEntry:
    folder = write_checkpoint(tmp_path / "Qwen3-8B-FP8", QWEN3_8B, size=9_100_000_000)
    return ModelEntry("q", "Qwen3 8B", folder, engine="vllm")


def said(entry: ModelEntry, free_gib: float, total_gib: float, **options: Any) -> FitReport:
    gpu = card("RTX", total_gib, free_gib)
    hardware = Hardware("Linux", CPU, Memory(32 * GIB, 16 * GIB), (gpu,))
    return fit_report(entry, LoadOptions(parallel=4, **options), "cuda", hardware, None)


def test_the_sum_is_that_of_all_chats_at_once_and_says_what_stays_free(entry: ModelEntry) -> None:
    report = said(entry, 79, 80)
    assert report.fit.verdict == "fits"
    assert report.fit.context == 40_960
    assert report.fit.need_bytes == report.fit.parts.total
    assert "4 chats at once have room for 40,960 tokens each." in report.sentences
    left = next(it for it in report.sentences if "stay free for other programs" in it)
    assert float(left.split()[0]) > 40


def test_a_card_that_is_filled_by_a_long_context_is_no_tight_fit(entry: ModelEntry) -> None:
    report = said(entry, 23, 24)
    assert report.fit.verdict == "fits"
    assert 8192 < report.fit.context < 40_960
    assert report.fit.need_bytes <= report.fit.have_bytes
    assert any(it.startswith("A context of up to 40,960 tokens fits") for it in report.sentences)


def test_chats_that_share_the_room_are_told_of(entry: ModelEntry) -> None:
    report = said(entry, 23, 24, context=40_960)
    assert "4 chats at once share the room; one may have 40,960 tokens." in report.sentences


def test_whether_it_would_fit_does_not_go_by_what_another_model_takes_now(
    entry: ModelEntry,
) -> None:
    full = Hardware("Linux", CPU, Memory(32 * GIB, 16 * GIB), (card("RTX", 24, 2),))
    assert fits_alone(entry, LoadOptions(), "cuda", full)
    assert not fits_alone(entry, LoadOptions(context=1_000_000), "cuda", full)
    small = replace(full, gpus=(card("RTX", 8, 8),))
    assert not fits_alone(entry, LoadOptions(), "cuda", small)


def test_what_does_not_fit_says_what_it_needs(entry: ModelEntry) -> None:
    report = said(entry, 9, 24)
    assert report.fit.verdict == "no"
    assert report.fit.reason.startswith("It does not fit: it needs ")
    assert not any("stay free" in it or "chats" in it for it in report.sentences)
