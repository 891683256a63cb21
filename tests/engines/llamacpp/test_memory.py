"""What has to stay in memory, and what can leave it again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from gguf import GGMLQuantizationType as Type

from engines.errors import NotEnoughMemory
from engines.fit import split_needed
from engines.gguf_header import read_header
from engines.llamacpp import memory
from engines.types import LoadPlan
from tests.engines.gguf_files import write_assistant, write_gemma4, write_llama


@pytest.mark.parametrize(
    ("kind", "mmap", "gpu_layers", "stays"),
    [
        (Type.Q8_0, True, 0, False),
        (Type.Q8_0, False, 0, True),
        (Type.Q4_0, True, 0, True),
        (Type.Q4_K, True, 0, True),
        (Type.Q4_0, True, -1, False),
    ],
)
def test_mapped_weights_stay_only_if_llama_cpp_copies_them(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: Type,
    mmap: bool,
    gpu_layers: int,
    stays: bool,
) -> None:
    model = write_llama(tmp_path / "m.gguf", kind)
    plan = LoadPlan(model, 256, 1, 1, gpu_layers=gpu_layers, mmap=mmap, draft_max=0)
    header = read_header(model)
    ram = split_needed(header, plan.context, plan.kv_type, plan.batch, plan.gpu_layers).ram
    free = SimpleNamespace(available_bytes=ram.kv + ram.compute + 100_000)
    monkeypatch.setattr(memory, "within_limits", lambda _memory, _root: free)
    if stays:
        with pytest.raises(NotEnoughMemory, match="not enough memory"):
            memory.require_memory(header, plan)
    else:
        memory.require_memory(header, plan)


@pytest.mark.parametrize("draft_max", [0, 8])
def test_room_to_draft_must_be_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draft_max: int
) -> None:
    model = write_gemma4(tmp_path / "m.gguf")
    drafter = read_header(write_assistant(tmp_path / "d.gguf", Type.Q4_0))
    plan = LoadPlan(model, 256, 1, 1, draft_max=draft_max)
    header = read_header(model)
    ram = split_needed(header, plan.context, plan.kv_type, plan.batch, plan.gpu_layers).ram
    free = SimpleNamespace(available_bytes=ram.kv + ram.compute + 100_000)
    monkeypatch.setattr(memory, "within_limits", lambda _memory, _root: free)
    if draft_max:
        with pytest.raises(NotEnoughMemory, match="not enough memory"):
            memory.require_memory(header, plan, drafter)
    else:
        memory.require_memory(header, plan, drafter)
