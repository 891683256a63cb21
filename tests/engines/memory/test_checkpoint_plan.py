"""Plans for loading a checkpoint with vLLM on made computers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.errors import Action, ContextTooLarge, NotEnoughMemory
from engines.hardware import Gpu, Hardware, Memory
from engines.memory.checkpoint_plan import (
    CARD_OVERHEAD,
    RAM_OVERHEAD,
    Room,
    longest_context,
    need_of,
    plan_checkpoint,
    require_memory,
    room_for,
    take_of,
)
from engines.memory.load_options import LoadOptions
from engines.models.checkpoint import Checkpoint, read_checkpoint
from engines.types import Adapter, VllmOptions
from tests.engines.checkpoint_files import (
    DFLASH,
    DRAFTER,
    EAGLE3,
    GEMMA_31B,
    QWEN2_AUDIO,
    QWEN3,
    SPECULATOR,
    TARGET,
    write_checkpoint,
)
from tests.support.machines import CPU, GIB, card

LARGE = Room("Card", 24 * GIB, 23 * GIB, cards=1)


@pytest.fixture
def target() -> Checkpoint:
    return read_checkpoint(TARGET)


@pytest.fixture
def drafter() -> Checkpoint:
    return read_checkpoint(DRAFTER)


def vllm_options(**options: Any) -> LoadOptions:
    return LoadOptions(vllm=VllmOptions(**options))


def test_what_the_user_wants_is_in_the_plan(target: Checkpoint, drafter: Checkpoint) -> None:
    adapters = (Adapter("law", Path("/a")),)
    load_options = LoadOptions(
        context=2048, kv_type="q4_0", parallel=8, adapters=adapters, depth=3,
        vllm=VllmOptions(memory_share=0.5, cards=2, nodes=3),
    )  # fmt: skip
    plan = plan_checkpoint(target, drafter, load_options, LARGE)
    assert (plan.model, plan.drafter, plan.draft_max) == (TARGET, DRAFTER, 3)
    assert (plan.context, plan.kv_type, plan.parallel) == (2048, "q8_0", 8)
    assert plan.options == load_options.vllm
    assert plan.adapters == adapters


def test_depth_is_the_wish_then_the_advice_then_the_usual(
    target: Checkpoint, drafter: Checkpoint
) -> None:
    assert plan_checkpoint(target, drafter, LoadOptions(), LARGE).draft_max == 2
    assert plan_checkpoint(target, drafter, LoadOptions(), LARGE, 4).draft_max == 4
    assert plan_checkpoint(target, drafter, LoadOptions(depth=1), LARGE, 4).draft_max == 1
    off = plan_checkpoint(target, drafter, LoadOptions(mtp=False), LARGE, 4)
    assert (off.draft_max, off.drafter) == (0, DRAFTER)
    assert "switched off" in off.mtp_note


def made(folder: Path, config: dict[str, Any], size: int = 0) -> Checkpoint:
    return read_checkpoint(write_checkpoint(folder, config, size=size))


def test_a_drafter_is_asked_for_as_many_tokens_as_it_was_made_for(tmp_path: Path) -> None:
    target = made(tmp_path / "t", QWEN3)
    for config, depth in ((SPECULATOR, 5), (DFLASH, 8), (EAGLE3, 2)):
        drafter = made(tmp_path / str(depth), config)
        assert plan_checkpoint(target, drafter, LoadOptions(), LARGE).draft_max == depth
        assert plan_checkpoint(target, drafter, LoadOptions(depth=1), LARGE).draft_max == 1


def test_the_text_drafts_only_where_it_is_asked_for_and_nothing_else_can(
    target: Checkpoint, drafter: Checkpoint
) -> None:
    auto, on = LoadOptions(), LoadOptions(lookup=True)
    plans = [plan_checkpoint(target, None, it, LARGE) for it in (auto, on)]
    assert [(it.draft_max, it.lookup) for it in plans] == [(0, False), (4, True)]
    assert need_of(target, None, plans[0], LARGE) == need_of(target, None, plans[1], LARGE)
    assert not plan_checkpoint(target, drafter, on, LARGE).lookup
    deep = plan_checkpoint(target, None, LoadOptions(lookup=True, depth=7), LARGE)
    assert deep.draft_max == 7


def test_keys_and_values_of_a_drafter_s_own_are_counted(
    tmp_path: Path, target: Checkpoint, drafter: Checkpoint
) -> None:
    assistant = plan_checkpoint(target, drafter, LoadOptions(), LARGE)
    assert need_of(target, drafter, assistant, LARGE).kv == target.kv_bytes(assistant.context)
    model = made(tmp_path / "t", QWEN3)
    for name, config in (("e", EAGLE3), ("d", DFLASH), ("s", {**QWEN3, "hidden_size": 32})):
        its = made(tmp_path / name, config)
        plan = plan_checkpoint(model, its, LoadOptions(), LARGE)
        need, context = need_of(model, its, plan, LARGE), plan.context
        assert need.kv == model.kv_bytes(context) + its.kv_bytes(context)
        assert need.drafter == its.weight_bytes
        off = plan_checkpoint(model, its, LoadOptions(mtp=False), LARGE)
        assert need_of(model, its, off, LARGE).kv == model.kv_bytes(off.context)


def test_a_small_model_drafts_as_far_as_it_can_read(tmp_path: Path) -> None:
    target = made(tmp_path / "t", QWEN3, size=4096)
    small = made(tmp_path / "s", {**QWEN3, "max_position_embeddings": 2048})
    usual = plan_checkpoint(target, small, LoadOptions(), LARGE)
    assert (usual.context, usual.drafter) == (2048, small.path)
    longer = plan_checkpoint(target, small, LoadOptions(context=4096), LARGE)
    assert (longer.context, longer.drafter, longer.draft_max) == (4096, None, 0)
    assert "reads at most 2,048 tokens" in longer.mtp_note
    eagle = made(tmp_path / "e", EAGLE3)
    assert plan_checkpoint(target, eagle, LoadOptions(), LARGE).context == 40_960


QWEN3_8B: dict[str, Any] = {
    **QWEN3, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
    "head_dim": 128, "hidden_size": 4096, "vocab_size": 151_936,
}  # fmt: skip
LLAMA_8B: dict[str, Any] = {
    **QWEN3_8B, "architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "num_hidden_layers": 32, "max_position_embeddings": 131_072,
}  # fmt: skip
FP8 = 9_100_000_000
"""The bytes of 8 billion weights in 8 bits."""


def test_the_context_is_as_long_as_all_chats_at_once_have_room_for(tmp_path: Path) -> None:
    model = made(tmp_path / "m", LLAMA_8B, size=FP8)
    contexts = []
    for chats in (1, 4, 8, 32):
        plan = plan_checkpoint(model, None, LoadOptions(parallel=chats), LARGE)
        assert (
            need_of(model, None, plan, LARGE, chats).total <= LARGE.usable_bytes(None)
            or chats == 32
        )
        require_memory(model, None, plan, LARGE)
        contexts.append(plan.context)
    one, four, eight, many = contexts
    assert 80_000 < one < 131_072
    assert four == pytest.approx(one / 4, abs=256)
    assert eight == pytest.approx(one / 8, abs=256)
    assert many == 8192, "the usual one, which the chats then share"


def test_what_a_model_and_its_chats_do_not_need_stays_free(tmp_path: Path) -> None:
    model = made(tmp_path / "m", QWEN3_8B, size=FP8)
    large = Room("Large", 80 * GIB, 79 * GIB, cards=1)
    plan = plan_checkpoint(model, None, LoadOptions(parallel=4), large)
    assert plan.context == 40_960, "as long as it was trained for"
    takes = take_of(model, None, plan, large)
    assert takes.weights == model.weight_bytes
    assert takes.kv == 4 * model.kv_bytes(40_960)
    assert takes.total < 0.5 * large.total
    short = plan_checkpoint(model, None, LoadOptions(context=4096, parallel=2), large)
    assert take_of(model, None, short, large).total < FP8 + 2 * CARD_OVERHEAD + 2 * 10**9


def test_as_much_is_taken_as_there_is_where_not_all_chats_have_room(tmp_path: Path) -> None:
    model = made(tmp_path / "m", LLAMA_8B, size=FP8)
    plan = plan_checkpoint(model, None, LoadOptions(context=65_536, parallel=4), LARGE)
    assert need_of(model, None, plan, LARGE).total < LARGE.usable_bytes(None)
    assert take_of(model, None, plan, LARGE).total == LARGE.usable_bytes(None)
    set_share = replace(plan, context=1024, parallel=1, options=VllmOptions(memory_share=0.8))
    assert take_of(model, None, set_share, LARGE).total == LARGE.usable_bytes(0.8), "as it is set"


def test_on_a_processor_the_context_stays_the_usual(tmp_path: Path) -> None:
    model = made(tmp_path / "m", LLAMA_8B, size=FP8)
    own = Room("CPU", 64 * GIB, 60 * GIB)
    assert plan_checkpoint(model, None, LoadOptions(parallel=4), own).context == 8192


def test_sliding_layers_keep_what_is_in_work_of_all_chats_once(tmp_path: Path) -> None:
    """Cards that read more of a prompt in one step also have more of it in work."""
    model = made(tmp_path / "m", GEMMA_31B)
    plan = plan_checkpoint(model, None, LoadOptions(context=65_536, parallel=4), LARGE)
    one, four = (need_of(model, None, plan, LARGE, chats).kv for chats in (1, 4))
    assert one == model.kv_bytes(65_536)
    assert four == one + 3 * model.kv_bytes(65_536, in_flight=0)
    cards = (card("RTX 4090", 24, 23), card("H100", 80, 79), card("A100", 80, 79))
    rooms = [room_for(Hardware("Linux", CPU, Memory(1, 1), (it,)), card=True) for it in cards]
    assert [it.in_flight for it in rooms] == [4096, 16_384, 4096]


def test_cards_that_have_the_same_head_need_room_for_it_each(tmp_path: Path) -> None:
    model = made(tmp_path / "m", LLAMA_8B)
    plan = plan_checkpoint(model, None, LoadOptions(context=4096), LARGE)
    kv = [need_of(model, None, plan, replace(LARGE, cards=it)).kv for it in (1, 8, 16)]
    assert kv == [kv[0], kv[0], 2 * kv[0]], "it has 8 heads"


def test_weights_in_ram_make_room_on_the_card(tmp_path: Path) -> None:
    model = made(tmp_path / "m", LLAMA_8B, size=30_000_000_000)
    room = replace(LARGE, ram=16 * GIB)
    with pytest.raises(NotEnoughMemory):
        require_memory(model, None, plan_checkpoint(model, None, LoadOptions(), room), room)
    plan = plan_checkpoint(model, None, vllm_options(offload_bytes=12_000_000_000), room)
    require_memory(model, None, plan, room)
    need = need_of(model, None, plan, room)
    assert (need.weights, need.ram) == (18_000_000_000, 12_000_000_000)
    with pytest.raises(NotEnoughMemory) as caught:
        require_memory(model, None, plan, replace(room, ram=8 * GIB))
    assert caught.value.action == Action("open_settings", "vllm_offload")
    own = Room("CPU", 64 * GIB, 60 * GIB)
    wanted = vllm_options(offload_bytes=1, batched=4096)
    found = plan_checkpoint(model, None, wanted, own)
    assert found.options == VllmOptions(), "there is no card"


def test_tokens_at_once_are_as_many_as_are_set_and_enough_for_all_chats(tmp_path: Path) -> None:
    model = made(tmp_path / "m", GEMMA_31B)
    plans = [
        plan_checkpoint(
            model,
            None,
            LoadOptions(context=65_536, parallel=4, vllm=VllmOptions(batched=it)),
            LARGE,
        )
        for it in (8192, 1)
    ]
    assert [it.options.batched for it in plans] == [8192, 512]
    kv = [need_of(model, None, it, LARGE).kv for it in plans]
    assert kv[0] == model.kv_bytes(65_536, in_flight=16_384)
    many = LoadOptions(parallel=256, lookup=True, vllm=VllmOptions(batched=1))
    assert plan_checkpoint(model, None, many, LARGE).options.batched == 256 * 5


def test_what_is_left_to_others_is_named_where_a_model_would_take_it(tmp_path: Path) -> None:
    model = made(tmp_path / "m", QWEN3, size=4_000_000_000)
    room = replace(LARGE, free=6_500_000_000, reserved=1_500_000_000)
    plan = plan_checkpoint(model, None, LoadOptions(context=4096), room)
    with pytest.raises(NotEnoughMemory) as caught:
        require_memory(model, None, plan, room)
    assert "Another 1.5 GB are free, but are left to other programs" in caught.value.why


def test_a_context_that_does_not_fit_becomes_shorter_or_is_refused_with_the_one_that_does(
    tmp_path: Path,
) -> None:
    large = read_checkpoint(write_checkpoint(tmp_path / "m", GEMMA_31B, size=20_000_000_000))
    room = Room("Card", 24 * GIB, 22_900_000_000, cards=1)
    plan = plan_checkpoint(large, None, LoadOptions(), room)
    assert 512 <= plan.context < 8192
    assert need_of(large, None, plan, room).total <= room.free
    require_memory(large, None, plan, room)
    wanted = plan_checkpoint(large, None, LoadOptions(context=131_072), room)
    with pytest.raises(NotEnoughMemory) as caught:
        require_memory(large, None, wanted, room)
    fits = longest_context(large, None, wanted, room)
    assert f"{fits:,} tokens, which fits" in caught.value.do
    assert "22.9 GB may be taken" in caught.value.what
    assert caught.value.action == Action("shorter_context", fits or 0)
    assert plan_checkpoint(large, None, LoadOptions(context=fits), room).context == fits
    require_memory(large, None, replace(wanted, context=fits or 0), room)
    with pytest.raises(NotEnoughMemory):
        require_memory(large, None, replace(wanted, context=(fits or 0) + 512), room)


def test_nothing_fits(tmp_path: Path) -> None:
    large = read_checkpoint(write_checkpoint(tmp_path / "m", GEMMA_31B, size=30_000_000_000))
    plan = plan_checkpoint(large, None, LoadOptions(), LARGE)
    with pytest.raises(NotEnoughMemory) as caught:
        require_memory(large, None, plan, LARGE)
    assert "llama.cpp" in caught.value.do
    require_memory(large, None, replace(plan, anyway=True), LARGE)
    require_memory(large, None, replace(plan, options=VllmOptions(nodes=2)), LARGE)


def test_a_share_of_the_card_is_the_limit(target: Checkpoint) -> None:
    plan = plan_checkpoint(target, None, vllm_options(memory_share=0.05), LARGE)
    assert LARGE.usable_bytes(plan.options.memory_share) == int(0.05 * LARGE.total)


def test_a_share_that_is_too_small_is_named_as_the_cause(target: Checkpoint) -> None:
    plan = plan_checkpoint(target, None, vllm_options(memory_share=0.01), LARGE)
    with pytest.raises(NotEnoughMemory) as caught:
        require_memory(target, None, plan, LARGE)
    assert "the settings allow" in caught.value.why
    assert caught.value.action == Action("open_settings", "vllm_memory")
    with pytest.raises(NotEnoughMemory):
        require_memory(target, None, plan, LARGE)


def test_more_than_it_was_trained_for_is_refused(target: Checkpoint) -> None:
    with pytest.raises(ContextTooLarge):
        plan_checkpoint(target, None, LoadOptions(context=8192), LARGE)


def test_rooms() -> None:
    cards: tuple[Gpu, ...] = (card("A", 24, 20), card("B", 24, 22), card("C", 8, 7.5, "amd"))
    hardware = Hardware("Linux", CPU, Memory(32 * GIB, 16 * GIB), cards)
    assert room_for(hardware, card=True).name == "B"
    both = room_for(hardware, card=True, cards=2)
    assert (both.free, both.total, both.cards) == (40 * GIB, 48 * GIB, 2)
    assert both.overhead == 2 * CARD_OVERHEAD
    own = room_for(hardware, card=False)
    assert (own.free, own.total, own.overhead) == (16 * GIB, 32 * GIB, RAM_OVERHEAD)
    assert room_for(replace(hardware, gpus=()), card=True).free == 0


def test_sounds_are_for_models_that_hear_on_cards(target: Checkpoint, tmp_path: Path) -> None:
    hears, wanted = made(tmp_path / "m", QWEN2_AUDIO), vllm_options(sounds=True, pictures=True)
    plan = plan_checkpoint(hears, None, wanted, LARGE)
    assert (plan.options.sounds, plan.options.pictures) == (True, False)
    assert not plan_checkpoint(hears, None, LoadOptions(), LARGE).options.sounds
    assert not plan_checkpoint(target, None, wanted, LARGE).options.sounds
    assert not plan_checkpoint(hears, None, wanted, replace(LARGE, cards=0)).options.sounds
