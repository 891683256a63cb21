"""The cards and the memory that a worker takes, and refusals before a start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engines.errors import (
    ContextTooLarge,
    ModelNotFound,
    MtpUnavailable,
    NotAChatModel,
    NotEnoughMemory,
)
from engines.hardware.values import Gpu, Hardware, Memory
from engines.memory.checkpoint_plan import plan_checkpoint, room_for
from engines.memory.load_options import LoadOptions
from engines.models.checkpoint import read_checkpoint
from engines.types import VllmOptions, VllmPlan
from engines.vllm.memory import (
    GIB,
    card_numbers,
    cpu_cache_gib,
    memory_share,
    spare_ram,
    used_cards,
)
from engines.vllm.preparing import prepare
from engines.vllm.provision.home import Installed
from tests.engines.checkpoint_files import DRAFTER, GEMMA_31B, TARGET, write_checkpoint
from tests.engines.vllm.checkpoints import ASSISTANT, GEMMA, QWEN, made
from tests.engines.vllm.faked import MACHINE, PLAN

GB = 1_000_000_000
CUDA = Installed("0.33.0", "cuda", Path("/env"))
CPU = Installed("0.32.0", "cpu", Path("/env"))


def card(free: int, total: int = 24 * GB) -> Gpu:
    return Gpu("NVIDIA RTX", "nvidia", "", total, free, False, "NVIDIA 580", usable=True)


def machine(*cards: Gpu, ram: int = 64 * GB) -> Hardware:
    return replace(MACHINE, gpus=cards, memory=Memory(ram, ram))


def test_the_share_is_what_is_free() -> None:
    assert memory_share([card(24 * GB)], None) == 0.92, "never all of it"
    assert memory_share([card(20 * GB)], None) == pytest.approx(0.804, abs=0.001)
    assert memory_share([card(20 * GB), card(12 * GB)], None) == pytest.approx(0.470, abs=0.001)
    assert memory_share([card(20 * GB)], 0.5) == 0.5, "as it is wanted"
    assert memory_share([], None) is None
    assert memory_share([card(20 * GB)], None) * 24 * GB <= 20 * GB - 0.7 * GB  # type: ignore[operator]


def test_the_share_is_no_more_than_a_plan_takes() -> None:
    assert memory_share([card(23 * GB)], None, 12 * GB) == 0.5
    assert memory_share([card(23 * GB)] * 2, None, 12 * GB) == 0.25, "each takes its half"
    assert memory_share([card(10 * GB)], None, 12 * GB) == pytest.approx(0.387, abs=0.001)
    assert memory_share([card(23 * GB)], 0.9, 12 * GB) == 0.9, "as it is wanted"


def test_the_card_that_draws_the_screen_keeps_more_free() -> None:
    shows = replace(card(20 * GB), shows=True)
    assert memory_share([shows], None) == pytest.approx(18.5 / 24, abs=0.001)
    rooms = [room_for(machine(it), card=True) for it in (card(20 * GB), shows)]
    assert [it.free - it.usable_bytes(None) for it in rooms] == [int(0.7 * GB), int(1.5 * GB)]


def test_a_worker_is_told_to_take_what_its_plan_needs(tmp_path: Path) -> None:
    folder = made(tmp_path / "m", GEMMA)
    setup = prepare(replace(plan_for(folder), parallel=4), CUDA, machine(card(23 * GB)))
    assert setup.takes is not None
    assert setup.takes < 5 * GB, "a small model leaves the card to others"
    for plan in (
        replace(plan_for(folder), anyway=True),
        replace(plan_for(folder), options=VllmOptions(nodes=2)),
    ):
        assert prepare(plan, CUDA, machine(card(23 * GB))).takes is None


def test_cards_are_chosen_by_number() -> None:
    one, two = card(1 * GB), card(2 * GB)
    both = machine(one, two)
    assert used_cards(both, 1) == (two,), "the one with the most free memory"
    assert used_cards(both, 2) == (two, one)
    assert card_numbers(both, used_cards(both, 2)) == (1, 0)


def test_cards_are_not_chosen_by_memory_alone() -> None:
    plain, newer = card(20 * GB), replace(card(16 * GB), capability=(8, 6))
    old = replace(card(22 * GB), capability=(7, 5))
    too_old = replace(card(23 * GB), capability=(6, 1))
    kept = replace(card(24 * GB), hidden=True)
    assert used_cards(machine(too_old, kept, old, newer), 4) == (newer, old)
    shows = replace(card(21 * GB), shows=True)
    assert used_cards(machine(shows, plain), 1) == (plain,), "windows want some of it later"
    roomy = replace(card(23 * GB), shows=True)
    assert used_cards(machine(plain, roomy), 1) == (roomy,)


def plan_for(folder: Path, context: int = 4096) -> VllmPlan:
    return replace(PLAN, model=folder, context=context)


def test_what_cannot_fit_is_refused_before_the_start(tmp_path: Path) -> None:
    folder = made(tmp_path / "m", GEMMA)
    room = machine(card(int(2.7 * GB) + 512 * 10_000))
    with pytest.raises(NotEnoughMemory):
        prepare(plan_for(folder, 100_000), CUDA, room)
    assert prepare(plan_for(folder, 8_000), CUDA, room).device == "NVIDIA RTX"
    prepare(replace(plan_for(folder, 100_000), anyway=True), CUDA, room)


def test_a_model_that_is_not_there_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        prepare(plan_for(tmp_path / "nothing"), CPU, machine())


def test_an_assistant_cannot_chat(tmp_path: Path) -> None:
    with pytest.raises(NotAChatModel):
        prepare(plan_for(made(tmp_path / "a", ASSISTANT), 100), CPU, machine())


def test_on_the_processor_its_own_memory_counts(tmp_path: Path) -> None:
    folder = made(tmp_path / "m", GEMMA)
    with pytest.raises(NotEnoughMemory):
        prepare(plan_for(folder), CPU, machine(ram=2 * GB))
    assert prepare(plan_for(folder), CPU, machine(ram=8 * GB)).device == "CPU"


def test_a_context_past_the_training_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContextTooLarge) as caught:
        prepare(plan_for(made(tmp_path / "m", GEMMA), 131_073), CPU, machine())
    assert caught.value.action is not None
    assert caught.value.action.value == 131_072


def test_without_drafts_it_loads_all_the_same(tmp_path: Path) -> None:
    """The exception is a request for drafts."""
    plan = replace(plan_for(made(tmp_path / "q", QWEN)), draft_max=2)
    setup = prepare(plan, CPU, machine())
    assert setup.drafts is None
    assert "left out" in setup.advice
    with pytest.raises(MtpUnavailable):
        prepare(plan, CPU, machine(), drafting_needed=True)


def test_speeds_with_and_without_a_drafter_are_compared_under_one_key() -> None:
    target, drafter = read_checkpoint(TARGET), read_checkpoint(DRAFTER)
    room = room_for(machine(), card=False)
    on, off = (
        prepare(
            plan_checkpoint(target, drafter, LoadOptions(context=512, mtp=mtp), room),
            CPU,
            machine(),
        )
        for mtp in (True, False)
    )
    assert (on.depth, off.depth) == (2, 0)
    assert on.key == off.key


def test_many_chats_take_no_more_ram_than_there_is(tmp_path: Path) -> None:
    """vLLM does not start with less memory than it is told to take; chats without room wait."""
    checkpoint = read_checkpoint(write_checkpoint(tmp_path / "m", GEMMA_31B))
    one = checkpoint.kv_bytes(32_768) * 1.25
    assert cpu_cache_gib(checkpoint, 32_768, 64) * GIB >= 64 * one, "nobody says what there is"
    room = int(5 * one) + GIB
    assert 4 * one <= cpu_cache_gib(checkpoint, 32_768, 64, room) * GIB <= room
    assert cpu_cache_gib(checkpoint, 32_768, 2, room) * GIB < 3 * one + GIB
    assert cpu_cache_gib(checkpoint, 32_768, 64, -GIB) * GIB >= one, "one has to fit"
    assert spare_ram(machine(ram=16 * GB), checkpoint) < 16 * GB - checkpoint.weight_bytes
