"""A card that several sources report is listed once."""

from __future__ import annotations

from dataclasses import replace

from engines.hardware import Gpu, Memory, NativeDevice
from engines.hardware.graphics import merge, native_gpus

GB = 10**9
MEMORY = Memory(16 * GB, 10 * GB)
SYSTEM = Gpu("Arc A770", "intel", "", 16 * GB, None, False, "xe", False, pci_id="0000:03:00.0")


def device(name: str, backend: str, pci_id: str | None = None, kind: str = "gpu") -> NativeDevice:
    return NativeDevice(f"{backend}0", name, backend, kind, 8 * GB, 9 * GB, pci_id)


def test_processors_and_accelerators_are_no_graphics() -> None:
    found = native_gpus([device("AMX", "AMX", kind="accelerator"), device("x", "CPU", kind="cpu")],
                        MEMORY)  # fmt: skip
    assert found == ()


def test_a_driver_that_exaggerates_is_not_believed() -> None:
    [gpu] = native_gpus([device("Intel Arc", "Vulkan")], MEMORY)
    assert (gpu.vendor, gpu.free_bytes) == ("intel", 8 * GB)


def test_shared_memory_that_is_in_use_is_not_free() -> None:
    [gpu] = native_gpus([device("Apple M4", "Metal")], Memory(16 * GB, 5 * GB))
    assert (gpu.vendor, gpu.integrated, gpu.free_bytes) == ("apple", True, 5 * GB)


def test_two_cards_of_one_name_stay_two() -> None:
    twins = [device("RTX", "CUDA", "0000:01:00.0"), device("RTX", "CUDA", "0000:02:00.0")]
    assert len(native_gpus(twins, MEMORY)) == 2
    assert len(native_gpus([device("RTX", "CUDA"), device("RTX", "CUDA")], MEMORY)) == 2
    assert len(native_gpus([device("RTX", "CUDA"), device("RTX", "Vulkan")], MEMORY)) == 1


def test_a_source_that_knows_no_bus_is_matched_by_name() -> None:
    native = native_gpus([device("Arc A770", "Vulkan", "0000:03:00.0")], MEMORY)
    [gpu] = merge(native, [replace(SYSTEM, name="ARC a770", pci_id=None)])
    assert (gpu.usable, gpu.driver) == (True, "xe")


def test_another_place_on_the_bus_is_another_card() -> None:
    native = native_gpus([device("Arc A770", "Vulkan", "0000:04:00.0")], MEMORY)
    first, second = merge(native, [SYSTEM])
    assert (first.usable, second.usable) == (True, False)
    assert second.why_not == "This build of llama.cpp does not support Intel graphics (Vulkan)."


def test_cards_of_one_source_are_never_merged() -> None:
    unplaced = replace(SYSTEM, pci_id=None)
    assert len(merge((), [unplaced, unplaced])) == 2
