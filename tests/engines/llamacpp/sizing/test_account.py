"""The account in llama.cpp's log, line by line, with cards that this computer may not have."""

from __future__ import annotations

import platform

import pytest

from engines.llamacpp.native import load_native
from engines.llamacpp.sizing.account import allocated, device_of, read_account
from engines.llamacpp.sizing.child import buffers
from engines.llamacpp.sizing.repacking import copies_of
from engines.memory.buffers import CPU, DeviceBuffers
from engines.memory.formula.weights import copied_bytes, copied_on_x86
from engines.models.gguf.header import read_header
from engines.types import LlamaPlan
from tests.engines.llamacpp.sizing.conftest import Made

MIB = 1 << 20
TWO_CARDS = """
llama_model_loader: loaded meta data with 30 key-value pairs and 40 tensors from m.gguf (version 3)
load_tensors: layer   0 assigned to device CPU, is_swa = 0
load_tensors: layer   1 assigned to device CUDA0, is_swa = 0
load_tensors: layer   2 assigned to device CUDA0, is_swa = 0
load_tensors: layer   3 assigned to device CUDA1, is_swa = 0
load_tensors: layer   4 assigned to device CUDA1, is_swa = 0
load_tensors:   CPU_Mapped model buffer size =    10.00 MiB
load_tensors:        CUDA0 model buffer size =    20.00 MiB
load_tensors:        CUDA1 model buffer size =    30.00 MiB
llama_context: constructing llama_context
llama_context:  CUDA_Host  output buffer size =     1.00 MiB
llama_kv_cache:        CPU KV buffer size =     2.00 MiB
llama_kv_cache:      CUDA0 KV buffer size =     4.00 MiB
llama_kv_cache:      CUDA1 KV buffer size =     2.00 MiB
llama_kv_cache: size =    8.00 MiB (   512 cells,   4 layers,  1/1 seqs), K (f16):    4.00 MiB
sched_reserve:      CUDA0 compute buffer size =     5.00 MiB
sched_reserve:      CUDA1 compute buffer size =     6.00 MiB
sched_reserve:  CUDA_Host compute buffer size =     3.00 MiB
llama_model_loader: loaded meta data with 30 key-value pairs and 40 tensors from d.gguf (version 3)
load_tensors:   CPU_Mapped model buffer size =     0.50 MiB
load_tensors:        CUDA1 model buffer size =     1.00 MiB
llama_context: constructing llama_context
llama_kv_cache: size =    8.00 MiB (   512 cells,   4 layers,  1/1 seqs), K (f16):    4.00 MiB
sched_reserve:      CUDA1 compute buffer size =     0.25 MiB
""".splitlines()


def test_every_buffer_is_on_its_device() -> None:
    found = {device.device: device for device in allocated(read_account(TWO_CARDS)).devices}
    assert found == {
        CPU: DeviceBuffers(CPU, 10 * MIB, 2 * MIB, 4 * MIB, MIB // 2, 21 * MIB // 2),
        "CUDA0": DeviceBuffers("CUDA0", 20 * MIB, 4 * MIB, 5 * MIB),
        "CUDA1": DeviceBuffers("CUDA1", 30 * MIB, 2 * MIB, 6 * MIB, 5 * MIB // 4),
    }


def test_memory_that_is_planned_anew_is_counted_once() -> None:
    """A context that is to report the inputs of its layers plans again at its next call."""
    took = "sched_reserve: reserve took 0.57 ms, sched copies = 1"
    again = ["sched_reserve: reserving ...", *TWO_CARDS[16:19], took]
    once = [*TWO_CARDS[:19], took, *TWO_CARDS[19:], took]
    assert "compute" in again[1]
    assert allocated(read_account([*once, *again])) == allocated(read_account(TWO_CARDS))


def test_own_memory_and_cards_are_summed() -> None:
    found = allocated(read_account(TWO_CARDS))
    assert found.total == found.own.total + found.cards.total
    assert found.cards.weights == 50 * MIB


def test_without_allocation_the_headers_say_where_things_are(made: Made) -> None:
    header = read_header(made("llama tied"))
    plan = LlamaPlan(made("llama tied"), 512, 1, 1, gpu_layers=4, draft_max=0)
    account = read_account(TWO_CARDS)
    found = buffers(account, header, None, plan, copied_on_x86)
    by_name = {device.device: device for device in found.devices}
    # Layers 1 and 2 on one card, layer 3 and the output on the other, each with its part of the
    # cache.
    assert by_name["CUDA0"].kv == 4 * MIB
    assert by_name["CUDA1"].kv == by_name[CPU].kv == 2 * MIB
    table = next(it.size_bytes for it in header.tensors if it.name == "token_embd.weight")
    layer = sum(it.size_bytes for it in header.tensors if it.name.startswith("blk.1."))
    assert by_name["CUDA0"].weights == 2 * layer
    assert by_name["CUDA1"].weights == pytest.approx(layer + table, rel=0.01)
    # Nothing is copied for the processor if a card takes part.
    assert by_name[CPU].weights == by_name[CPU].mapped
    assert by_name[CPU].compute == 4 * MIB


@pytest.mark.parametrize(
    ("buffer", "device"),
    [
        ("CPU", CPU), ("CPU_Mapped", CPU), ("CPU_REPACK", CPU), ("CUDA_Host", CPU),
        ("Vulkan_Host", CPU), ("AMX", CPU), ("CUDA1", "CUDA1"), ("MTL0_Mapped", "MTL0"),
    ],
)  # fmt: skip
def test_devices_by_the_names_of_buffers(buffer: str, device: str) -> None:
    assert device_of(buffer) == device


@pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="of other processors")
@pytest.mark.parametrize("name", ["llama", "llama tied", "qwen3moe", "gpt-oss", "deepseek2"])
def test_the_library_agrees_which_matrices_are_copied(name: str, made: Made) -> None:
    header = read_header(made(name))
    copies = copies_of(load_native())
    assert copied_bytes(header, copies) == copied_bytes(header) > header.weight_bytes // 2
