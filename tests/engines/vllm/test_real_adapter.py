"""A real vLLM with a LoRA adapter: another text for requests that name it, and only for these."""

from __future__ import annotations

import json
import random
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import AdapterUnknown
from engines.types import Adapter
from engines.vllm.provision.home import Installed
from tests.engines.contract import answer, ask
from tests.engines.vllm.faked import PLAN, TARGET, make_engine

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(400),
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]

RANK = 4
TARGETS = ("o_proj", "down_proj")


def shapes() -> dict[str, list[int]]:
    """Return the shapes of the starter's weights that an adapter can change, outputs first."""
    raw = (TARGET / "model.safetensors").read_bytes()
    header = json.loads(raw[8 : 8 + struct.unpack_from("<Q", raw)[0]])
    return {
        name.removesuffix(".weight"): tensor["shape"]
        for name, tensor in header.items()
        if name.endswith(tuple(f"{target}.weight" for target in TARGETS))
    }


def make_adapter(folder: Path, seed: int = 1) -> Path:
    """Make an adapter in peft's format that changes the model's words."""
    dice = random.Random(seed)
    folder.mkdir()
    tensors: dict[str, tuple[list[int], bytes]] = {}
    for name, (outputs, inputs) in shapes().items():
        for part, shape in (("A", [RANK, inputs]), ("B", [outputs, RANK])):
            numbers = [dice.gauss(0, 0.3) for _ in range(shape[0] * shape[1])]
            data = struct.pack(f"<{len(numbers)}f", *numbers)
            tensors[f"base_model.model.{name}.lora_{part}.weight"] = (shape, data)
    header, at = {}, 0
    for name, (shape, data) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    told = json.dumps(header).encode()
    body = b"".join(data for _, data in tensors.values())
    (folder / "adapter_model.safetensors").write_bytes(struct.pack("<Q", len(told)) + told + body)
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "r": RANK,
        "lora_alpha": 2 * RANK,
        "target_modules": list(TARGETS),
        "bias": "none",
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))
    return folder


def test_an_adapter_answers_by_its_name(vllm: Installed, tmp_path: Path) -> None:
    adapter = Adapter("pirate", make_adapter(tmp_path / "pirate"))
    engine = make_engine(vllm, tmp_path / "worker", silent_s=300)
    question = ask("What is Hearth?", max_tokens=40)
    try:
        engine.load(replace(PLAN, adapters=(adapter,)), lambda _: None, CancelToken())
        plain = answer(engine, question)
        changed = answer(engine, replace(question, adapter="pirate"))
        again = answer(engine, question)
        started = engine.worker
        other = Adapter("other", make_adapter(tmp_path / "other", seed=2))
        assert engine.adapt("", (adapter, other), CancelToken())
        added = answer(engine, replace(question, adapter="other"))
        assert engine.adapt("", (other,), CancelToken())
        left = answer(engine, replace(question, adapter="other"))
        with pytest.raises(AdapterUnknown):
            answer(engine, replace(question, adapter="pirate"))
        assert engine.worker is started
    finally:
        engine.close()

    assert plain == again
    assert changed
    assert changed != plain
    assert added not in {plain, changed}
    assert left == added
    assert "Hearth" in plain
