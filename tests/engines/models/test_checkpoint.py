"""The descriptions of checkpoints, and which of them draft for which."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from engines.errors import ModelDamaged, ModelNotFound, NotAModel
from engines.models.checkpoint import (
    HEADS,
    Checkpoint,
    CheckpointFormat,
    is_checkpoint,
    mismatch,
    pairs,
    read_checkpoint,
)
from engines.types import EngineName
from tests.engines.checkpoint_files import (
    DFLASH,
    DFLASH_TENSORS,
    DRAFTER,
    EAGLE3,
    EAGLE3_TENSORS,
    GEMMA_31B,
    QWEN2_AUDIO,
    QWEN3,
    SPECULATOR,
    SPECULATOR_TENSORS,
    TARGET,
    write_checkpoint,
)

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
    assert target.kv_bytes(4096) == 2 * 2 * (64 * min(4096, 128 + 2 * 2048) + 128 * 4096)
    assert target.kv_bytes(4096, "q8_0") * 2 == target.kv_bytes(4096)


def test_the_cache_of_a_large_model_is_what_vllm_says(tmp_path: Path) -> None:
    found = read_checkpoint(write_checkpoint(tmp_path / "m", GEMMA_31B))
    assert found.kv_bytes(262_144, in_flight=8192) / 2**30 == pytest.approx(27.04, abs=0.02)


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
    [
        ({f"model.layers.{number}.norm.weight": [64] for number in range(3)}, "embedded"),
        (None, "none"),
    ],
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


def described(folder: Path, config: dict[str, Any], **changed: Any) -> Checkpoint:
    return read_checkpoint(write_checkpoint(folder, {**config, **changed}, size=4096))


@pytest.mark.parametrize(
    ("config", "tensors", "method", "depth"),
    [
        (EAGLE3, EAGLE3_TENSORS, "eagle3", 0),
        ({**EAGLE3, "architectures": ["LlamaForCausalLM"]}, EAGLE3_TENSORS, "eagle3", 0),
        ({**EAGLE3, "architectures": ["Eagle3Qwen3ForCausalLM"]}, EAGLE3_TENSORS, "eagle3", 0),
        (SPECULATOR, SPECULATOR_TENSORS, "eagle3", 5),
        (DFLASH, DFLASH_TENSORS, "dflash", 15),
    ],
)
def test_drafters_are_known_by_their_configuration_and_pair_with_their_model(
    tmp_path: Path, config: dict[str, Any], tensors: Shapes, method: str, depth: int
) -> None:
    target = described(tmp_path / "t", QWEN3)
    drafter = read_checkpoint(write_checkpoint(tmp_path / "d", config, tensors))
    assert drafter.mtp == "drafter"
    assert drafter.drafting is not None
    assert (drafter.drafting.method, drafter.drafting.depth) == (method, depth)
    assert pairs(target, drafter)
    assert not pairs(drafter, target)


@pytest.mark.parametrize(
    ("drafter", "target", "word"),
    [
        (EAGLE3, {"hidden_size": 128}, "width 64"),
        (EAGLE3, {"vocab_size": 513}, "vocabularies"),
        ({**EAGLE3, "target_hidden_size": 96}, {}, "width 96"),
        ({**EAGLE3, "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 9]}}, {}, "9 layers"),
        (SPECULATOR, {"architectures": ["LlamaForCausalLM"]}, "of the kind Qwen3"),
        (DFLASH, {"num_hidden_layers": 7}, "6 layers"),
        ({**DFLASH, "num_target_layers": 0}, {"num_hidden_layers": 4}, "5 layers"),
        (DFLASH, {"draft_vocab_size": 9}, "a drafter itself"),
    ],
)
def test_a_drafter_of_another_model_does_not_pair(
    tmp_path: Path, drafter: dict[str, Any], target: dict[str, Any], word: str
) -> None:
    one = described(tmp_path / "t", QWEN3, **target)
    other = read_checkpoint(write_checkpoint(tmp_path / "d", drafter))
    assert word in mismatch(one, other)
    assert not pairs(one, other)


def test_a_drafter_that_takes_in_other_states_than_it_says_is_damaged(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "d", EAGLE3, {**EAGLE3_TENSORS, "fc.weight": [64, 200]})
    with pytest.raises(ModelDamaged) as caught:
        read_checkpoint(folder)
    assert "fc.weight is 64 × 64, but in its files it is 64 × 200" in caught.value.why


def test_a_small_model_can_draft_for_a_large_one_but_was_not_made_for_it(tmp_path: Path) -> None:
    target = described(tmp_path / "t", QWEN3)
    small = read_checkpoint(write_checkpoint(tmp_path / "s", {**QWEN3, "hidden_size": 32}))
    assert mismatch(target, small) == ""
    assert not pairs(target, small)
    assert "no smaller" in mismatch(small, target)
    other = read_checkpoint(write_checkpoint(tmp_path / "o", {**QWEN3, "vocab_size": 500}))
    assert "vocabularies" in mismatch(target, other)
    encoder = {**QWEN3, "architectures": ["BertModel"]}
    assert "not a drafter" in mismatch(
        target, read_checkpoint(write_checkpoint(tmp_path / "b", encoder))
    )


def test_as_many_tokens_are_not_the_same_tokens(tmp_path: Path) -> None:
    target = described(tmp_path / "t", QWEN3)
    small = read_checkpoint(write_checkpoint(tmp_path / "s", QWEN3))

    def name(folder: str, *tokens: str) -> None:
        vocab = {token: number for number, token in enumerate(tokens)}
        file = tmp_path / folder / "tokenizer.json"
        file.write_text(json.dumps({"model": {"vocab": vocab}}), encoding="utf-8")

    name("t", "a", "b")
    assert mismatch(target, small) == "", "one says nothing of its tokens"
    name("s", "a", "b")
    assert mismatch(target, small) == ""
    (tmp_path / "s" / "tokenizer.json").unlink()
    (tmp_path / "o").mkdir()
    other = read_checkpoint(write_checkpoint(tmp_path / "o", QWEN3))
    name("o", "b", "a")
    assert "differ from the model’s" in mismatch(target, other)


def test_a_small_model_drafts_only_where_it_was_chosen(tmp_path: Path) -> None:
    formats = CheckpointFormat()
    model = Listed(described(tmp_path / "t", QWEN3).path)
    small = Listed(write_checkpoint(tmp_path / "s", QWEN3))
    made = Listed(write_checkpoint(tmp_path / "d", EAGLE3, EAGLE3_TENSORS))
    assert formats.drafter_for(model, [small.path], [small.path]) is None
    assert formats.drafter_for(model, [], [small.path, made.path]) == made.path
    assert formats.drafter_for(replace(model, drafter=small.path), [made.path], []) == small.path
    assert formats.draft_models(model, [model, small, made]) == [small]
    assert formats.draft_models(small, [model, small, made]) == []
    assert formats.targets(made.path, [model, small]) == [model, small]


Shapes = dict[str, list[int]]


@dataclass(frozen=True)
class Listed:
    path: Path
    drafter: Path | None = None
    projector: Path | None = None
    name: str = ""
    served: str = ""
    builtin: bool = False
    engine: EngineName = "vllm"
    context: int = 0


def shapes(folder: Path) -> Shapes:
    with (folder / "model.safetensors").open("rb") as file:
        found = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return {name: it["shape"] for name, it in found.items() if name != "__metadata__"}


@pytest.mark.parametrize(
    ("changes", "gone", "words"),
    [
        ({"model.embed_tokens.weight": [2048, 192]}, "", "embed_tokens.weight is 2,048 × 128"),
        ({"model.embed_tokens.weight": [1024, 128]}, "", "in its files it is 1,024 × 128"),
        ({"pre_projection.weight": [128, 256]}, "", "pre_projection.weight is 128 × 384"),
        ({"post_projection.weight": [128, 128]}, "", "post_projection.weight is 192 × 128"),
        ({"model.layers.0.self_attn.q_proj.weight": [128, 64]}, "", "in its files it is 128 × 64"),
        ({"model.layers.2.norm.weight": [128]}, "", "contain tensors of layer 2"),
        ({}, "model.layers.1.", "the tensors of layer 1 are not"),
    ],
)
def test_a_drafter_whose_tensors_contradict_its_description_is_refused(
    tmp_path: Path, changes: Shapes, gone: str, words: str
) -> None:
    config = json.loads((DRAFTER / "config.json").read_text())
    kept = {
        name: it for name, it in shapes(DRAFTER).items() if not gone or not name.startswith(gone)
    }
    read_checkpoint(write_checkpoint(tmp_path / "good", config, shapes(DRAFTER)))
    with pytest.raises(ModelDamaged) as caught:
        read_checkpoint(write_checkpoint(tmp_path / "bad", config, kept | changes))
    assert words in caught.value.why


def test_a_model_whose_tensors_contradict_its_description_is_refused(tmp_path: Path) -> None:
    config = json.loads((TARGET / "config.json").read_text())
    good = shapes(TARGET)
    read_checkpoint(write_checkpoint(tmp_path / "good", config, good))
    for name, wrong in (("few", {"num_hidden_layers": 5}), ("wide", {"hidden_size": 256})):
        with pytest.raises(ModelDamaged, match=r"In its config\.json|names 5 layers"):
            read_checkpoint(write_checkpoint(tmp_path / name, {**config, **wrong}, good))


def test_tensors_that_are_packed_have_shapes_of_their_own(tmp_path: Path) -> None:
    config = {**LLAMA, "quantization_config": {"quant_method": "awq", "bits": 4}}
    folder = write_checkpoint(tmp_path / "m", config)
    header = {
        f"model.layers.{number}.self_attn.q_proj.weight": {
            "dtype": "I32", "shape": [8, 64], "data_offsets": [0, 2]
        }
        for number in range(2)
    }  # fmt: skip
    words = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(words).to_bytes(8, "little") + words + b"xx")
    assert read_checkpoint(folder).precision == "int4"


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


def test_a_description_that_tells_of_endless_layers_is_refused_at_once(tmp_path: Path) -> None:
    """A set of so many numbers used up all memory of the computer."""
    tensors = {f"model.layers.{it}.mlp.gate.weight": [4, 4] for it in range(2)}
    endless = {**LLAMA, "num_hidden_layers": 10**15, "layer_types": ["full_attention"] * 2}
    with pytest.raises(ModelDamaged) as caught:
        read_checkpoint(write_checkpoint(tmp_path / "m", endless, tensors))
    assert "tensors of layer 2" in caught.value.why


@pytest.mark.parametrize("gone", ["up", "down"])
@pytest.mark.parametrize("kind", ["weight", "weight_packed"])
def test_a_network_without_one_of_its_parts_is_damaged(
    tmp_path: Path, gone: str, kind: str
) -> None:
    """vLLM loads it without a word, and answers with nonsense."""
    names = [f"model.layers.{at}.mlp.{part}_proj.{kind}" for at in range(2)
             for part in ("gate", "up", "down")]  # fmt: skip
    tensors = {name: [4, 4] for name in names}
    assert read_checkpoint(write_checkpoint(tmp_path / "whole", LLAMA, tensors)).layers == 2
    del tensors[f"model.layers.1.mlp.{gone}_proj.{kind}"]
    with pytest.raises(ModelDamaged) as caught:
        read_checkpoint(write_checkpoint(tmp_path / "half", LLAMA, tensors))
    assert f"layers.1.mlp.{gone}_proj" in caught.value.why


def test_a_network_without_a_gate_or_with_a_fused_one_is_whole(tmp_path: Path) -> None:
    parts = ("0.mlp.up_proj", "0.mlp.down_proj", "1.mlp.gate_up_proj", "1.mlp.down_proj")
    tensors = {f"model.layers.{it}.weight": [4, 4] for it in parts}
    assert read_checkpoint(write_checkpoint(tmp_path / "m", LLAMA, tensors)).layers == 2


@pytest.mark.parametrize(
    "header",
    ["[]", '{"w": {}}', '{"w": {"data_offsets": []}}', '{"w": 1}', '{"w":' * 100_000],
    ids=["list", "empty", "no numbers", "number", "deep"],
)
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


@pytest.mark.parametrize(
    ("config", "can"),
    [
        (QWEN2_AUDIO, {"hears"}),
        ({**GEMMA_31B, "vision_config": {}, "audio_config": None}, {"sees"}),
        ({**GEMMA_31B, "vision_config": {}, "audio_config": {"hidden_size": 8}}, {"sees", "hears"}),
        (QWEN3, set()),
    ],
)
def test_what_it_sees_and_hears_is_in_its_description(
    tmp_path: Path, config: dict[str, Any], can: set[str]
) -> None:
    folder = write_checkpoint(tmp_path / "m", config)
    listed = Listed(folder)
    facts = CheckpointFormat().facts(listed)
    assert {*(facts.can or ())} & {"sees", "hears"} == can


def test_the_usual_shape_counts_where_a_description_leaves_it_out(tmp_path: Path) -> None:
    found = read_checkpoint(write_checkpoint(tmp_path / "m", QWEN2_AUDIO))
    # 32 layers, each with keys and values of 32 heads of 128, two bytes each.
    assert found.kv_bytes(8192) == 2 * 2 * 32 * 32 * 128 * 8192
    assert (found.layers, found.width, found.heads, found.kv_heads) == (32, 4096, 32, 32)
