"""Headers that would end llama.cpp's process never reach it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.errors import ModelDamaged
from engines.models.gguf.header import read_header
from tests.engines.gguf_files import (
    GEMMA4,
    LLAMA,
    QWEN35,
    gemma4_tensors,
    llama_tensors,
    qwen35_tensors,
    write_gguf,
)
from tests.faults.gguf_parts import put_together, size_of, take_apart
from tests.support.mtp_models import write_step

LLAMA_CASES: dict[str, tuple[dict[str, object], str]] = {
    "no layers": ({"block_count": 0}, "missing or zero"),
    "too many layers": ({"block_count": 513}, "513 layers"),
    "prediction layers": ({"nextn_predict_layers": 5}, "more prediction layers"),
    "prediction layers only": ({"nextn_predict_layers": 4}, "all of its layers"),
    "experts": ({"expert_count": 1025, "expert_used_count": 2}, "do not add up"),
    "experts at work": ({"expert_count": 4, "expert_used_count": 5}, "do not add up"),
    "idle experts": ({"expert_count": 4}, "do not add up"),
    "groups without experts": ({"expert_group_count": 1}, "do not add up"),
    "uneven groups": (
        {"expert_count": 8, "expert_used_count": 2, "expert_group_count": 3},
        "do not add up",
    ),
    "position scaling": ({"rope.scaling.type": "magic"}, "position scaling"),
    "uneven heads": ({"attention.head_count_kv": 3}, "evenly"),
    "positions": ({"rope.dimension_count": 33}, "rotates"),
    "width of keys": ({"attention.head_count_kv": [2, 2, 2, 1]}, "keys of layer 3"),
    "no keys": ({"attention.head_count_kv": 0}, "keys of layer 0"),
    "list too short": ({"attention.head_count": [8, 8, 8]}, "does not fit"),
    "odd positions": ({"rope.dimension_count": 31}, "in pairs"),
    "no positions": ({"rope.dimension_count": 0, "rope.freq_base": 1e4}, "rotates no values"),
    "sections": ({"rope.dimension_sections": [11, 11, 11, 0]}, "sections"),
    "sections that are none": ({"rope.dimension_sections": "11"}, "not a list"),
    "negative epsilon": ({"attention.layer_norm_rms_epsilon": -1.0}, "small positive"),
    "epsilon not a number": ({"attention.layer_norm_epsilon": float("nan")}, "small positive"),
    "endless epsilon": ({"attention.group_norm_epsilon": float("inf")}, "small positive"),
    "whole epsilon": ({"attention.layer_norm_rms_epsilon": 1}, "not a decimal number"),
    "not a number": ({"embedding_length": "wide"}, "not a whole number"),
}
GEMMA_CASES: dict[str, tuple[dict[str, object], str]] = {
    "one owner": ({"attention.shared_kv_layers": 5}, "two must own"),
    "more sharers than layers": ({"attention.shared_kv_layers": 7}, "two must own"),
    "owners of the wrong kind": (
        {"attention.sliding_window_pattern": [True, True, False, True, True, False]},
        "own kind",
    ),
    "no window": ({"attention.sliding_window_pattern": [False] * 6}, "sliding window"),
    "window of nothing": ({"attention.sliding_window": 0}, "sliding window"),
    "odd positions in the window": ({"rope.dimension_count_swa": 63}, "in pairs"),
    "no positions in the window": ({"rope.dimension_count_swa": 0}, "rotates no values"),
    "too many positions in the window": ({"rope.dimension_count_swa": None}, "rotates more"),
}


@pytest.mark.parametrize(("changes", "expected"), LLAMA_CASES.values(), ids=LLAMA_CASES)
def test_llama(tmp_path: Path, changes: dict[str, object], expected: str) -> None:
    path = write_gguf(tmp_path / "m.gguf", "llama", {**LLAMA, **changes}, llama_tensors({**LLAMA}))
    with pytest.raises(ModelDamaged) as caught:
        read_header(path)
    assert expected in caught.value.why


@pytest.mark.parametrize(("changes", "expected"), GEMMA_CASES.values(), ids=GEMMA_CASES)
def test_gemma4(tmp_path: Path, changes: dict[str, object], expected: str) -> None:
    path = write_gguf(
        tmp_path / "m.gguf", "gemma4", {**GEMMA4, **changes}, gemma4_tensors({**GEMMA4})
    )
    with pytest.raises(ModelDamaged) as caught:
        read_header(path)
    assert expected in caught.value.why


@pytest.mark.parametrize(("inner", "heads"), [(511, 8), (0, 8), (512, 0), (1024, 8)])
def test_qwen35(tmp_path: Path, inner: int, heads: int) -> None:
    values = {**QWEN35, "ssm.inner_size": inner, "ssm.time_step_rank": heads}
    path = write_gguf(tmp_path / "m.gguf", "qwen35", values, qwen35_tensors(QWEN35))
    with pytest.raises(ModelDamaged, match="is not that of"):
        read_header(path)


@pytest.mark.parametrize("name", ["attn_qkv", "attn_gate"])
def test_qwen35_without_a_tensor(tmp_path: Path, name: str) -> None:
    shapes = qwen35_tensors(QWEN35)
    del shapes[f"blk.1.{name}.weight"]
    path = write_gguf(tmp_path / "m.gguf", "qwen35", QWEN35, shapes)
    with pytest.raises(ModelDamaged, match="is missing"):
        read_header(path)


@pytest.mark.parametrize("name", ["ffn_up", "ffn_gate", "ffn_down"])
def test_step35_without_a_tensor(tmp_path: Path, name: str) -> None:
    whole = write_step(tmp_path / "whole.gguf")
    assert read_header(whole).tensors
    parts = take_apart(whole.read_bytes())
    parts.tensors = [t for t in parts.tensors if t.name != f"blk.1.{name}.weight".encode()]
    path = tmp_path / "m.gguf"
    path.write_bytes(put_together(parts))
    with pytest.raises(ModelDamaged, match="is missing"):
        read_header(path)


TYPES = {
    "output_norm.weight": (0, {1, 8, 24, 28, 30}),
    "blk.0.attn_q.weight": (1, {9, 15, 24, 25, 26, 27, 28}),
    "blk.0.ssm_conv1d.weight": (0, {1, 8, 30}),
    "blk.0.ssm_a": (0, {1, 30}),
    "blk.0.ffn_gate_tid2eid.weight": (26, set()),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_that_nothing_can_compute_with(tmp_path: Path, name: str) -> None:
    """Each of these types is refused, and the one that the converters write is accepted."""
    right, wrong = TYPES[name]
    shapes = {**llama_tensors(LLAMA)} | (
        {} if "attn" in name or "output" in name else {name: [4, 256]}
    )
    path = write_gguf(tmp_path / "m.gguf", "llama", LLAMA, shapes)
    parts = take_apart(path.read_bytes())
    tensor = next(tensor for tensor in parts.tensors if tensor.name == name.encode())
    for kind in {right, *wrong}:
        tensor.kind = kind
        tensor.data = bytes(size_of(tensor.shape, kind))
        path.write_bytes(put_together(parts))
        if kind == right:
            assert read_header(path).tensors
            continue
        with pytest.raises(ModelDamaged, match="cannot be used in a computation"):
            read_header(path)


def test_a_tensor_of_nothing(tmp_path: Path) -> None:
    values = {**LLAMA, "feed_forward_length": 0}
    path = write_gguf(tmp_path / "m.gguf", "llama", values, llama_tensors(values))
    with pytest.raises(ModelDamaged, match="impossible shape"):
        read_header(path)


OPEN_ANYWAY = """
import sys
from engines.llamacpp.native import load_native
api = load_native().api
model_params = api.llama_model_default_params()
model_params.no_alloc = True
model_params.load_mode = 0
model = api.llama_model_load_from_file(sys.argv[1].encode(), model_params)
context_params = api.llama_context_default_params()
context_params.swa_full = False
api.llama_init_from_model(model, context_params)
"""


def test_the_guards_are_needed(tmp_path: Path) -> None:
    """llama.cpp really ends its process for one of them; otherwise the guards could go."""
    changes = {"attention.sliding_window_pattern": [True, True, False, True, True, False]}
    values = {**GEMMA4, **changes}
    path = write_gguf(tmp_path / "m.gguf", "gemma4", values, gemma4_tensors(values))
    child = subprocess.run(
        [sys.executable, "-c", OPEN_ANYWAY, str(path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert child.returncode < 0
    assert "GGML_ASSERT" in child.stderr
