"""The same wish on another engine, and what differs there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engines.memory.equivalent import Target, equivalent
from engines.types import MAX_DEPTH, Adapter, LoadPlan

GGUF, FOLDER = Path("/m.gguf"), Path("/m")
LLAMA = LoadPlan(
    GGUF, 8192, 8, 8, gpu_layers=20, kv_type="q4_0", drafter=Path("/d.gguf"), experts_in_ram=3
)
VLLM = LoadPlan(
    FOLDER, 8192, 0, 0, parallel=4, memory_share=0.8, tensor_parallel=2, nodes=2, draft_max=2,
    adapters=(Adapter("a", Path("/a")),),
)  # fmt: skip


def test_the_same_engine_differs_in_nothing() -> None:
    found = equivalent(LLAMA, "llamacpp", Target("llamacpp", Path("/other.gguf")))
    assert (found.plan.model, found.plan.kv_type, found.notes) == (Path("/other.gguf"), "q4_0", ())


def test_from_llama_to_vllm() -> None:
    target = Target("vllm", FOLDER, Path("/d"), drafts=True, context_max=4096, depth=4)
    found = equivalent(LLAMA, "llamacpp", target)
    assert (found.plan.model, found.plan.drafter, found.plan.draft_max) == (FOLDER, Path("/d"), 4)
    assert (found.plan.context, found.plan.kv_type, found.plan.threads) == (4096, "q8_0", 0)
    said = " ".join(found.notes)
    for word in ("4,096 tokens instead of 8,192", "FP8", "threads", "all layers", "experts",
                 "4 tokens ahead"):  # fmt: skip
        assert word in said, word


def test_what_does_not_matter_is_not_mentioned() -> None:
    plain = LoadPlan(GGUF, 4096, 0, 0, gpu_layers=-1, draft_max=0)
    assert equivalent(plain, "llamacpp", Target("vllm", FOLDER)).notes == ()


def test_a_checkpoint_that_cannot_draft_says_so() -> None:
    found = equivalent(LLAMA, "llamacpp", Target("vllm", FOLDER))
    assert found.plan.draft_max == 0
    assert any("Nothing guesses ahead" in note for note in found.notes)


def test_from_vllm_to_llama() -> None:
    found = equivalent(VLLM, "vllm", Target("llamacpp", GGUF, drafts=True, threads=6))
    assert (found.plan.model, found.plan.threads, found.plan.draft_max) == (GGUF, 6, MAX_DEPTH)
    assert (found.plan.parallel, found.plan.adapters, found.plan.memory_share) == (
        VLLM.parallel,
        (),
        None,
    )
    said = " ".join(found.notes)
    for word in (
        "a context of its own",
        "no share",
        "whole layers",
        "this computer only",
        "LoRA",
    ):
        assert word in said, word


def test_to_a_server_and_there_everything_is_its_own() -> None:
    found = equivalent(replace(LLAMA, drafter=None), "llamacpp", Target(
        "remote", Path("gemma"), profile="p1"
    ))  # fmt: skip
    assert (found.plan.server, found.plan.served, found.plan.draft_max) == ("p1", "gemma", 0)
    assert len(found.notes) == 2


def test_devices_become_cards_that_share_layers() -> None:
    plan = replace(LLAMA, devices=("CUDA0", "CUDA1"), gpu_layers=-1)
    assert equivalent(plan, "llamacpp", Target("vllm", FOLDER)).plan.tensor_parallel == 2
