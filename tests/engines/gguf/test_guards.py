"""Headers on which llama.cpp ends the process never reach it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.errors import ModelDamaged
from engines.gguf_header import read_header
from tests.engines.gguf_files import (
    GEMMA4,
    LLAMA,
    gemma4_tensors,
    llama_tensors,
    write_gguf,
)

LLAMA_CASES: dict[str, tuple[dict[str, object], str]] = {
    "no layers": ({"block_count": 0}, "missing or zero"),
    "too many layers": ({"block_count": 513}, "513 layers"),
    "prediction layers": ({"nextn_predict_layers": 5}, "more prediction layers"),
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
    """llama.cpp does end its process on one of them: else they could go."""
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
