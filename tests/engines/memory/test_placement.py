"""The parts of models that go to graphics cards, for made models and computers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engines.hardware import Cpu, Gpu, Hardware, Memory
from engines.memory.buffers import Buffers, DeviceBuffers
from engines.memory.fit import need_by_formula
from engines.memory.formula.weights import experts_from, weights
from engines.memory.load_options import LoadOptions
from engines.memory.placement import cards_for, emptied, usable_bytes
from engines.memory.planner import by_formula, check, make_plan
from engines.models.gguf.header import GgufHeader, read_header
from tests.support.made_architectures import write_made

GB = 10**9
RESERVE = 512 << 20
MODEL = Path("model.gguf")
CPU = Cpu("Test CPU", 8, 16, 16, 8, 8)
CARD = Gpu("Test card", "amd", "Vulkan", 24 * GB, 24 * GB, False, "1", True, device="Vulkan0")
OTHER = replace(CARD, name="Other card", device="Vulkan1")
SHARED = replace(CARD, name="Shared", integrated=True, device="Vulkan2")
WISHES = LoadOptions(context=1024, mtp=False)


def computer(*gpus: Gpu, available: int = 20 * GB) -> Hardware:
    return Hardware("Test", CPU, Memory(64 * GB, available), gpus)


@pytest.fixture(scope="module")
def mixture(tmp_path_factory: pytest.TempPathFactory) -> GgufHeader:
    return read_header(write_made(tmp_path_factory.mktemp("m"), "qwen3moe"))


@pytest.fixture(scope="module")
def dense(tmp_path_factory: pytest.TempPathFactory) -> GgufHeader:
    return read_header(write_made(tmp_path_factory.mktemp("d"), "llama"))


def on_card(header: GgufHeader, layers: int, experts: int) -> int:
    return need_by_formula(
        header, 1024, "f16", 512, layers, experts_in_ram=experts
    ).gpu.total  # fmt: skip


def with_room(count: int) -> Gpu:
    return replace(CARD, free_bytes=count + RESERVE)


def test_a_mixture_is_known_by_its_tensors(mixture: GgufHeader, dense: GgufHeader) -> None:
    assert (experts_from(mixture), experts_from(dense)) == (4, 0)


def test_all_of_it_where_there_is_room(mixture: GgufHeader) -> None:
    plan = make_plan(MODEL, mixture, computer(CARD), WISHES)
    assert (plan.gpu_layers, plan.experts_in_ram, plan.devices) == (-1, 0, ("Vulkan0",))


@pytest.mark.parametrize("behind", [1, 3, 4])
def test_experts_stay_behind_before_a_layer_does(mixture: GgufHeader, behind: int) -> None:
    hardware = computer(with_room(on_card(mixture, -1, behind)))
    plan = make_plan(MODEL, mixture, hardware, WISHES)
    assert (plan.gpu_layers, plan.experts_in_ram) == (-1, behind)
    fit = check(mixture, hardware, plan)
    assert fit.verdict == "partial"
    assert f"except for the experts of {behind} of its 4 layers" in fit.reason
    tighter = computer(with_room(on_card(mixture, -1, behind) - 1))
    less = make_plan(MODEL, mixture, tighter, WISHES)
    assert less.experts_in_ram > behind or less.gpu_layers == 4


def test_then_layers_leave_and_all_experts_stay(mixture: GgufHeader) -> None:
    hardware = computer(with_room(on_card(mixture, 3, 4)))
    plan = make_plan(MODEL, mixture, hardware, WISHES)
    assert (plan.gpu_layers, plan.experts_in_ram) == (3, 4)


def test_a_wish_for_experts_is_kept(mixture: GgufHeader) -> None:
    load_options = replace(WISHES, experts_in_ram=2)
    assert make_plan(MODEL, mixture, computer(CARD), load_options).experts_in_ram == 2
    many = replace(WISHES, experts_in_ram=99)
    assert make_plan(MODEL, mixture, computer(CARD), many).experts_in_ram == 4
    none = replace(WISHES, experts_in_ram=0)
    short = computer(with_room(on_card(mixture, 3, 0)))
    plan = make_plan(MODEL, mixture, short, none)
    assert (plan.gpu_layers, plan.experts_in_ram) == (3, 0)


def test_a_dense_model_has_none_to_leave(dense: GgufHeader) -> None:
    hardware = computer(with_room(on_card(dense, 3, 0)))
    plan = make_plan(MODEL, dense, hardware, replace(WISHES, experts_in_ram=4))
    assert (plan.gpu_layers, plan.experts_in_ram) == (3, 0)


def test_the_processor_alone_names_no_device(mixture: GgufHeader) -> None:
    plan = make_plan(MODEL, mixture, computer(CARD), replace(WISHES, gpu_layers=0))
    assert (plan.gpu_layers, plan.devices, plan.experts_in_ram) == (0, (), 0)


def test_experts_take_own_memory_in_place_of_the_cards(mixture: GgufHeader) -> None:
    def placed(experts: int) -> tuple[int, int]:
        found = weights(
            mixture, lambda layer: "card" if layer >= 0 else "CPU", mmap=False, heads=False,
            experts_in_ram=experts,
        )  # fmt: skip
        return found["card"].size, found["CPU"].size

    (all_card, all_own), (card, own) = placed(0), placed(2)
    assert own - all_own == all_card - card
    share = sum(it.size_bytes for it in mixture.tensors if "_exps" in it.name) / 2
    assert own - all_own == share


class TestDevices:
    def test_without_names_integrated_ones_are_for_want_of_others(self) -> None:
        assert cards_for(computer(SHARED, CARD, OTHER)) == (CARD, OTHER)
        assert cards_for(computer(SHARED)) == (SHARED,)

    def test_names_count(self) -> None:
        assert cards_for(computer(SHARED, CARD, OTHER), ["Vulkan2"]) == (SHARED,)
        assert cards_for(computer(SHARED, CARD, OTHER), ["Vulkan1", "Vulkan0"]) == (CARD, OTHER)

    def test_what_is_named_and_broken_is_replaced(self) -> None:
        broken = replace(CARD, usable=False, why_not="It crashed.")
        assert cards_for(computer(broken, OTHER), ["Vulkan0"]) == (OTHER,)

    def test_several_share_the_layers_and_each_computes(self, dense: GgufHeader) -> None:
        hardware = computer(CARD, OTHER)
        plan = make_plan(MODEL, dense, hardware, WISHES)
        assert plan.devices == ("Vulkan0", "Vulkan1")
        fit = check(dense, hardware, plan)
        assert fit.have_bytes == usable_bytes(CARD) + usable_bytes(OTHER)
        assert fit.device == "Test card and Other card"
        one = by_formula(dense, replace(plan, devices=("Vulkan0",)), None).gpu
        two = by_formula(dense, plan, None).gpu
        assert two.compute == 6 * one.compute
        assert two.weights == one.weights

    def test_a_card_that_failed_is_said_with_the_reason(self, dense: GgufHeader) -> None:
        broken = replace(CARD, usable=False, why_not="It computes wrongly.")
        hardware = computer(broken)
        plan = make_plan(MODEL, dense, hardware, WISHES)
        fit = check(dense, hardware, plan)
        assert (plan.gpu_layers, fit.device) == (0, "Test CPU")
        assert fit.reason.endswith("Test card is not used: It computes wrongly.")
        foreign = replace(broken, backend="", why_not="This build has no part for it.")
        assert "not used" not in check(dense, computer(foreign), plan).reason


def test_what_is_loaded_counts_as_free_for_the_next_model() -> None:
    """Mapped weights are free already, and no memory becomes more than there is."""
    buffers = Buffers(
        (
            DeviceBuffers("CPU", weights=10 * GB, kv=3 * GB, mapped=9 * GB),
            DeviceBuffers("Vulkan1", weights=5 * GB),
            DeviceBuffers("Vulkan2", kv=GB),
        )
    )
    used = replace(OTHER, free_bytes=GB)
    found = emptied(computer(CARD, used, SHARED), [buffers])
    assert found.memory.available_bytes == 25 * GB
    assert [gpu.free_bytes for gpu in found.gpus] == [24 * GB, 6 * GB, 24 * GB]
    assert emptied(computer(available=62 * GB), [buffers]).memory.available_bytes == 64 * GB
