"""The memory of a load that has to stay, and the memory that can be released again."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from gguf import GGMLQuantizationType as Type

from engines.errors import NotEnoughMemory
from engines.llamacpp import load_guard
from engines.memory.fit import need_by_formula
from engines.models.gguf.header import read_header
from engines.types import LlamaPlan
from tests.engines.gguf_files import write_assistant, write_gemma4, write_llama
from tests.support.made_gguf import STARTER
from tests.support.paths import ROOT


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
    plan = LlamaPlan(model, 256, 1, 1, gpu_layers=gpu_layers, mmap=mmap, draft_max=0)
    header = read_header(model)
    ram = need_by_formula(header, plan.context, plan.kv_type, plan.batch, plan.gpu_layers).ram
    free = SimpleNamespace(available_bytes=ram.kv + ram.compute + 100_000)
    monkeypatch.setattr(load_guard, "within_limits", lambda _memory, _root: free)
    if stays:
        with pytest.raises(NotEnoughMemory, match="not enough memory"):
            load_guard.require_memory(header, plan)
    else:
        load_guard.require_memory(header, plan)


@pytest.mark.parametrize("draft_max", [0, 8])
def test_room_to_draft_must_be_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draft_max: int
) -> None:
    model = write_gemma4(tmp_path / "m.gguf")
    drafter = read_header(write_assistant(tmp_path / "d.gguf", Type.Q4_0))
    plan = LlamaPlan(model, 256, 1, 1, draft_max=draft_max)
    header = read_header(model)
    ram = need_by_formula(header, plan.context, plan.kv_type, plan.batch, plan.gpu_layers).ram
    free = SimpleNamespace(available_bytes=ram.kv + ram.compute + 100_000)
    monkeypatch.setattr(load_guard, "within_limits", lambda _memory, _root: free)
    if draft_max:
        with pytest.raises(NotEnoughMemory, match="not enough memory"):
            load_guard.require_memory(header, plan, drafter)
    else:
        load_guard.require_memory(header, plan, drafter)


def test_what_is_to_be_loaded_anyway_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = write_llama(tmp_path / "m.gguf")
    plan = LlamaPlan(model, 256, 1, 1, anyway=True)
    monkeypatch.setattr(load_guard, "within_limits", lambda *_: SimpleNamespace(available_bytes=0))
    load_guard.require_memory(read_header(model), plan)
    with pytest.raises(NotEnoughMemory):
        load_guard.require_memory(read_header(model), replace(plan, anyway=False))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory like this")
@pytest.mark.parametrize("room", [300, 1500])
def test_memory_that_really_runs_out_ends_in_an_error(room: int) -> None:
    """The load was forced; it has a KV cache of 0.5 GB, and the process has `room` MB."""
    text = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from engines.cancel import CancelToken\n"
        "from engines.errors import NotEnoughMemory\n"
        "from engines.llamacpp.engine import LlamaCppEngine\n"
        "from engines.llamacpp.native import load_native\n"
        "from engines.types import LlamaPlan\n"
        "load_native()\n"
        f"resource.setrlimit(resource.RLIMIT_DATA, ({room} << 20,) * 2)\n"
        "plan = LlamaPlan(Path(sys.argv[1]), 900_000, 1, 1, batch=32, draft_max=0, anyway=True)\n"
        "try:\n"
        "    LlamaCppEngine().load(plan, lambda _: None, CancelToken())\n"
        "except NotEnoughMemory as error:\n"
        "    print('refused:', error.what)\n"
        "else:\n"
        "    print('loaded')\n"
    )
    command = [sys.executable, "-c", text, str(STARTER)]
    said = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("loaded" if room > 1000 else "refused: There is not enough")
