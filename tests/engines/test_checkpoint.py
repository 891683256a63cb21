"""What checkpoints say of themselves, and which draft for which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engines.checkpoint import HEADS, is_checkpoint, pairs, read_checkpoint
from engines.errors import ModelDamaged, ModelNotFound, NotAModel
from tests.engines.checkpoint_files import DRAFTER, GEMMA_31B, TARGET, write_checkpoint

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 64,
    "max_position_embeddings": 2048, "vocab_size": 100,
}  # fmt: skip


def test_the_starters_pair() -> None:
    target, drafter = read_checkpoint(TARGET), read_checkpoint(DRAFTER)
    assert (target.context_max, target.layers, target.precision) == (4096, 4, "bf16")
    assert (target.mtp, drafter.mtp) == ("none", "drafter")
    assert target.weight_bytes == (TARGET / "model.safetensors").stat().st_size
    assert target.chats
    assert "turn" in (target.chat_template or "")
    assert pairs(target, drafter)
    assert not pairs(drafter, target)


def test_two_of_the_starters_four_layers_keep_nothing_of_their_own() -> None:
    target = read_checkpoint(TARGET)
    # One with a window of 128 tokens and heads of 64, one with heads of 128, two bytes each.
    assert target.kv_bytes(4096) == 2 * 2 * (64 * min(4096, 128 + 2048) + 128 * 4096)
    assert target.kv_bytes(4096, "q8_0") * 2 == target.kv_bytes(4096)


def test_the_cache_of_a_large_model_is_what_vllm_says(tmp_path: Path) -> None:
    found = read_checkpoint(write_checkpoint(tmp_path / "m", GEMMA_31B))
    assert found.kv_bytes(262_144, batched=8192) / 2**30 == pytest.approx(27.04, abs=0.02)


@pytest.mark.parametrize(
    ("quantised", "precision"),
    [
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "awq", "bits": 4}, "int4"),
        ({"quant_method": "gptq", "bits": 8}, "int8"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, "fp8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int"}}},
            },
            "int4",
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
        ),
    ],
)
def test_quantisations(tmp_path: Path, quantised: dict[str, Any], precision: str) -> None:
    folder = write_checkpoint(tmp_path / "m", {**LLAMA, "quantization_config": quantised})
    assert read_checkpoint(folder).precision == precision


@pytest.mark.parametrize("name", HEADS)
def test_a_head_by_any_of_its_names(tmp_path: Path, name: str) -> None:
    folder = write_checkpoint(tmp_path / "m", {**LLAMA, name: 1}, {"mtp.layers.0.w": [2, 2]})
    assert read_checkpoint(folder).mtp == "embedded"


@pytest.mark.parametrize(
    ("tensors", "mtp"),
    [({"model.layers.2.embed_tokens.weight": [2, 2]}, "embedded"), (None, "none")],
)
def test_a_head_counts_only_with_its_tensors(
    tmp_path: Path, tensors: dict[str, list[int]] | None, mtp: str
) -> None:
    folder = write_checkpoint(tmp_path / "m", {**LLAMA, "num_nextn_predict_layers": 1}, tensors)
    assert read_checkpoint(folder).mtp == mtp


def test_a_drafter_of_another_width_does_not_pair(tmp_path: Path) -> None:
    config = json.loads((DRAFTER / "config.json").read_text())
    other = write_checkpoint(tmp_path / "d", {**config, "backbone_hidden_size": 256})
    assert not pairs(read_checkpoint(TARGET), read_checkpoint(other))


def test_what_is_missing_or_damaged_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        read_checkpoint(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotAModel):
        read_checkpoint(tmp_path / "empty")
    folder = write_checkpoint(tmp_path / "m", LLAMA)
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelDamaged):
        read_checkpoint(folder)
    folder = write_checkpoint(tmp_path / "cut", LLAMA, {"w": [100, 100]})
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(500)
    with pytest.raises(ModelDamaged) as caught:
        read_checkpoint(folder)
    assert "cut off" in caught.value.why


@pytest.mark.parametrize("header", ["[]", '{"w": {}}', '{"w": {"data_offsets": []}}', '{"w": 1}'])
def test_a_file_of_tensors_without_their_places_is_damaged(tmp_path: Path, header: str) -> None:
    folder = write_checkpoint(tmp_path / "m", LLAMA)
    words = header.encode()
    (folder / "model.safetensors").write_bytes(len(words).to_bytes(8, "little") + words)
    with pytest.raises(ModelDamaged):
        read_checkpoint(folder)


def test_a_part_that_has_not_come_yet_is_named(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "m", LLAMA, name="model-00001-of-00002.safetensors")
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "second.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ModelDamaged) as caught:
        read_checkpoint(folder)
    assert "second.safetensors" in caught.value.why


def test_the_template_of_an_older_checkpoint(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "m", LLAMA)
    assert read_checkpoint(folder).chat_template is None
    named = [{"name": "tool", "template": "other"}, {"name": "default", "template": "mine"}]
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    assert read_checkpoint(folder).chat_template == "mine"
    (folder / "tokenizer_config.json").write_text("{")
    assert read_checkpoint(folder).chat_template is None


def test_names_of_files_tell_a_checkpoint() -> None:
    assert is_checkpoint(["config.json", "model.safetensors"])
    assert not is_checkpoint(["adapter_config.json", "adapter_model.safetensors"])
    assert not is_checkpoint(["config.json", "model.gguf"])


def test_a_model_that_keeps_one_vector_for_keys_and_values(tmp_path: Path) -> None:
    config = {**LLAMA, "kv_lora_rank": 512, "qk_rope_head_dim": 64}
    found = read_checkpoint(write_checkpoint(tmp_path / "m", config))
    assert found.kv_bytes(1000) == 2 * 1000 * (512 + 64) * 2
