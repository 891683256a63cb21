"""Numbers and stages in vLLM's output, the stored speeds, and the line about MTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.vllm import mtp_status as truth
from engines.vllm.gain_book import DraftSpeeds, GainBook
from engines.vllm.log import BEFORE, Stage, stage
from engines.vllm.metrics import CACHE_USED, read_metrics
from tests.engines.vllm.card_log import CARD_START

METRICS = """\
# HELP vllm:num_requests_running Number of requests
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="model"} 1.0
vllm:num_requests_waiting{engine="0",model_name="model"} 2.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="model",reason="capacity"} 2.0
vllm:kv_cache_usage_perc{engine="0",model_name="model"} 0.25
vllm:prompt_tokens_total{engine="0",model_name="model"} 13.0
vllm:prompt_tokens_created{engine="0",model_name="model"} 1.7952750911309004e+09
vllm:generation_tokens_total{engine="0",model_name="model"} 60.0
vllm:spec_decode_num_drafts_total{engine="0",model_name="model"} 20.0
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="model"} 40.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="model"} 30.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="model",position="1"} 10.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="model",position="0"} 20.0
vllm:spec_decode_num_drafts_created{engine="0",model_name="model"} 1.7952750911309004e+09
"""


def test_figures() -> None:
    found = read_metrics(METRICS)
    assert found["vllm:num_requests_waiting"] == 2
    assert found[CACHE_USED] == 0.25
    assert found["vllm:spec_decode_num_accepted_tokens_per_pos_total"] == 30
    assert read_metrics("") == {}


BEGUN = Stage(0.02, BEFORE)


@pytest.mark.parametrize(
    ("line", "share", "words"),
    [
        ("(APIServer pid=1) INFO non-default args: {}", 0.17, "the model"),
        ("(EngineCore pid=1) INFO Initializing a V1 LLM engine (v0.32.0) with", 0.41, "Starting"),
        ("(EngineCore pid=1) INFO Loading model from scratch...", 0.42, "weights"),
        ("(EngineCore pid=1) INFO Starting to load model x...", 0.42, "weights"),
        ("Loading safetensors checkpoint shards:  50% Completed | 1/2", 0.44, "50 %"),
        ("(EngineCore pid=1) INFO GPU KV cache size: 1,234 tokens, Maximum", 0.90, "Warming"),
        ("Capturing CUDA graphs (mixed prefill-decode, PIECEWISE):  20%|##", 0.75, "20 %"),
        ("INFO:     Application startup complete.", 0.99, "ready"),
    ],
)
def test_stages(line: str, share: float, words: str) -> None:
    found = stage(line, BEGUN)
    assert found.share == pytest.approx(share)
    assert words in f"{found.words} {found.detail}"


def test_other_lines_tell_no_stage() -> None:
    assert stage("(APIServer pid=1) INFO Route: /health, Methods: GET", BEGUN) == BEGUN


def test_the_stages_of_a_card_come_in_its_order() -> None:
    now, seen = BEGUN, [BEGUN]
    for line in CARD_START:
        now = stage(line, now)
        if now != seen[-1]:
            seen.append(now)
    shares = [it.share for it in seen]
    assert shares == sorted(shares)
    words = [it.words for it in seen]
    assert [it for at, it in enumerate(words) if it != words[at - 1]] == [
        BEFORE,
        "Checking the model",
        "Starting the engine’s processes",
        "Starting the engine",
        "Loading the weights",
        "Measuring memory",
        "Compiling for this card",
        "Measuring memory",
        "Compiling for this card",
        "Capturing CUDA graphs",
        "Measuring memory",
        "Warming up",
        "Compiling for this card",
        "Warming up",
        "Capturing CUDA graphs",
        "Warming up",
        "Nearly ready",
    ]


def test_the_log_tells_which_kernel_is_compiled() -> None:
    now = Stage(0.72, "Measuring memory")
    line = (
        "2026-11-27 01:02:03,456 - INFO - core.py:594 - flashinfer.jit: Building JIT module {};"
        " this can take several minutes on first use."
    )
    assert stage(line.format("sampling"), now) == Stage(0.72, "Compiling for this card", "sampling")
    assert len(stage(line.format("x" * 200), now).detail) < 50
    bar = "JIT kernel warmup (12 compile keys):  25%|##5       | 1/4 [00:01<00:03]"
    assert stage(bar, now) == Stage(0.72, "Compiling for this card", "25 %")


def test_a_bar_of_another_kind_of_graphs_begins_anew_but_not_the_start() -> None:
    bar = "Capturing CUDA graphs (FULL):  {}%|#"
    now = stage(bar.format(100), BEGUN)
    assert now.share == pytest.approx(0.87)
    again = stage(bar.format(10), now)
    assert (again.words, again.detail) == ("Capturing CUDA graphs", "10 %")
    assert again.share == now.share


def test_a_gain_needs_both_ways(tmp_path: Path) -> None:
    book = GainBook(tmp_path / "deep" / "speeds.json")
    book.learn("m", 0, 100, 20.0)
    assert book.speeds_of("m", 2) == DraftSpeeds(20.0, None)
    assert book.speeds_of("m", 2).gain is None
    book.learn("m", 2, 100, 36.0)
    book.learn("m", 2, 5, 900.0)
    assert book.speeds_of("m", 2).gain == pytest.approx(1.8)
    again = GainBook(tmp_path / "deep" / "speeds.json")
    assert again.speeds_of("m", 2).gain == pytest.approx(1.8)
    assert again.speeds_of("m", 3).gain is None
    assert again.speeds_of("other", 2).gain is None


def test_a_book_that_cannot_be_read_is_a_new_one(tmp_path: Path) -> None:
    file = tmp_path / "speeds.json"
    file.write_text('{"m": 3}')
    assert GainBook(file).speeds_of("m", 0) == DraftSpeeds()


def test_the_line_of_truth() -> None:
    assert (
        truth.status_running("drafter", 2, 40, 30, None) == "MTP on: 2 tokens ahead, 75 % accepted"
    )
    assert truth.status_running("embedded", 1, 40, 30, 1.8) == (
        "MTP on: 1 token ahead, 75 % accepted, 1.8x measured on this computer"
    )
    assert "MTP" not in truth.status_running("lookup", 4, 40, 30, 1.8)
    assert truth.status_before_answers("lookup", 4, DraftSpeeds(), "") == truth.status_running(
        "lookup", 4, 0, 0, None
    )
    assert (
        truth.status_before_answers("lookup", 4, DraftSpeeds(), "It does not fit.")
        == "It does not fit."
    )
    assert "No gain" in truth.status_before_answers("drafter", 2, DraftSpeeds(20.0, 20.5), "")
    assert (
        truth.status_before_answers("none", 0, DraftSpeeds(), "Nothing drafts.")
        == "Nothing drafts."
    )
    assert "about 60 s" in truth.still_on(2, 60.2)
