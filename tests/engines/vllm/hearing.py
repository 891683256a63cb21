"""Make a checkpoint that hears, small enough for a processor: a Qwen2 Audio of random weights."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tests.engines.vllm.faked import TARGET

CONTEXT: Final = 2048
MARKS: Final = ("<|AUDIO|>", "<|audio_bos|>", "<|audio_eos|>")
_PLAIN: Final = 2048
"""The tokens of the starter; this tokenizer has the marks of sounds after them."""

_VOCABULARY: Final = _PLAIN + 16
_WIDTH: Final = 128
_HEADS: Final = 2
_HEAD: Final = 64
_INNER: Final = 256
_EAR: Final = 64
_BINS: Final = 128
_POSITIONS: Final = 1500
"""Half of the frames of a sound; two of them become one token."""

_TEMPLATE: Final = (
    "{{- bos_token -}}{%- for turn in messages -%}"
    "{{- '<|turn>' + turn['role'] + '\\n' -}}"
    "{%- if turn['content'] is string -%}{{- turn['content'] -}}{%- else -%}"
    "{%- for part in turn['content'] -%}"
    "{%- if part['type'] == 'audio' -%}{{- '<|audio_bos|><|AUDIO|><|audio_eos|>' -}}"
    "{%- elif part['type'] == 'text' -%}{{- part['text'] -}}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}{{- '<turn|>\\n' -}}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|turn>model\\n' -}}{%- endif -%}"
)


def sound_tokens(seconds: float) -> int:
    """Return the tokens of a sound without its two marks: every fourth of 100 frames a second."""
    frames = round(100 * seconds)
    return ((frames - 1) // 2 + 1 - 2) // 2 + 1


def write_qwen2_audio(folder: Path) -> Path:
    """Write the checkpoint into a new folder."""
    folder.mkdir()
    _write_json(folder / "config.json", _config())
    _write_json(folder / "tokenizer.json", _tokenizer())
    _write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": "<bos>",
            "eos_token": "<eos>",
            "pad_token": "<pad>",
            "unk_token": "<unk>",
            "model_max_length": CONTEXT,
        },
    )
    _write_json(
        folder / "preprocessor_config.json",
        {
            "processor_class": "Qwen2AudioProcessor",
            "feature_extractor_type": "WhisperFeatureExtractor",
            "feature_size": _BINS,
            "sampling_rate": 16_000,
            "hop_length": 160,
            "chunk_length": 30,
            "n_fft": 400,
            "padding_value": 0.0,
            "padding_side": "right",
            "return_attention_mask": True,
        },
    )
    (folder / "chat_template.jinja").write_text(_TEMPLATE)
    _write_tensors(folder / "model.safetensors", _tensors())
    return folder


def _config() -> dict[str, Any]:
    return {
        "architectures": ["Qwen2AudioForConditionalGeneration"],
        "model_type": "qwen2_audio",
        "audio_token_index": _PLAIN,
        "dtype": "float32",
        "audio_config": {
            "model_type": "qwen2_audio_encoder",
            "num_mel_bins": _BINS,
            "encoder_layers": 1,
            "encoder_attention_heads": 2,
            "encoder_ffn_dim": 2 * _EAR,
            "d_model": _EAR,
            "max_source_positions": _POSITIONS,
        },
        "text_config": {
            "model_type": "qwen2",
            "vocab_size": _VOCABULARY,
            "hidden_size": _WIDTH,
            "intermediate_size": _INNER,
            "num_hidden_layers": 1,
            "num_attention_heads": _HEADS,
            "num_key_value_heads": 1,
            "max_position_embeddings": CONTEXT,
            "rms_norm_eps": 1e-6,
            "rope_theta": 10_000.0,
            "tie_word_embeddings": False,
            "bos_token_id": 2,
            "eos_token_id": 1,
            "dtype": "float32",
        },
    }


def _tokenizer() -> dict[str, Any]:
    told: dict[str, Any] = json.loads((TARGET / "tokenizer.json").read_text(encoding="utf-8"))
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    told["added_tokens"] += [
        {"id": _PLAIN + at, "content": mark, "special": True, **plain}
        for at, mark in enumerate(MARKS)
    ]
    return told


def _tensors() -> dict[str, NDArray[np.float32]]:
    dice = np.random.default_rng(7)

    def matrix(*shape: int) -> NDArray[np.float32]:
        """Return values that keep the size of their input."""
        scale = float(np.prod(shape[1:])) ** -0.5
        return np.asarray(dice.standard_normal(shape) * scale, np.float32)

    def norm(name: str, width: int) -> dict[str, NDArray[np.float32]]:
        return {
            f"{name}.weight": np.ones(width, np.float32),
            f"{name}.bias": np.zeros(width, np.float32),
        }

    def linear(
        name: str, outputs: int, inputs: int, *, bias: bool = True
    ) -> dict[str, NDArray[np.float32]]:
        found = {f"{name}.weight": matrix(outputs, inputs)}
        return found | ({f"{name}.bias": np.zeros(outputs, np.float32)} if bias else {})

    ear, layer = "audio_tower", "audio_tower.layers.0"
    tensors = {
        f"{ear}.conv1.weight": matrix(_EAR, _BINS, 3),
        f"{ear}.conv1.bias": np.zeros(_EAR, np.float32),
        f"{ear}.conv2.weight": matrix(_EAR, _EAR, 3),
        f"{ear}.conv2.bias": np.zeros(_EAR, np.float32),
        f"{ear}.embed_positions.weight": matrix(_POSITIONS, _EAR),
        **norm(f"{ear}.layer_norm", _EAR),
        **linear(f"{layer}.self_attn.k_proj", _EAR, _EAR, bias=False),
        **linear(f"{layer}.self_attn.v_proj", _EAR, _EAR),
        **linear(f"{layer}.self_attn.q_proj", _EAR, _EAR),
        **linear(f"{layer}.self_attn.out_proj", _EAR, _EAR),
        **norm(f"{layer}.self_attn_layer_norm", _EAR),
        **linear(f"{layer}.fc1", 2 * _EAR, _EAR),
        **linear(f"{layer}.fc2", _EAR, 2 * _EAR),
        **norm(f"{layer}.final_layer_norm", _EAR),
        **linear("multi_modal_projector.linear", _WIDTH, _EAR),
    }
    text, layer = "language_model.model", "language_model.model.layers.0"
    return tensors | {
        f"{text}.embed_tokens.weight": matrix(_VOCABULARY, _WIDTH) * _WIDTH**0.5,
        f"{text}.norm.weight": np.ones(_WIDTH, np.float32),
        f"{layer}.input_layernorm.weight": np.ones(_WIDTH, np.float32),
        f"{layer}.post_attention_layernorm.weight": np.ones(_WIDTH, np.float32),
        **linear(f"{layer}.self_attn.q_proj", _HEADS * _HEAD, _WIDTH),
        **linear(f"{layer}.self_attn.k_proj", _HEAD, _WIDTH),
        **linear(f"{layer}.self_attn.v_proj", _HEAD, _WIDTH),
        **linear(f"{layer}.self_attn.o_proj", _WIDTH, _HEADS * _HEAD, bias=False),
        **linear(f"{layer}.mlp.gate_proj", _INNER, _WIDTH, bias=False),
        **linear(f"{layer}.mlp.up_proj", _INNER, _WIDTH, bias=False),
        **linear(f"{layer}.mlp.down_proj", _WIDTH, _INNER, bias=False),
        "language_model.lm_head.weight": matrix(_VOCABULARY, _WIDTH),
    }


def _write_json(path: Path, told: object) -> None:
    path.write_text(json.dumps(told), encoding="utf-8")


def _write_tensors(path: Path, tensors: dict[str, NDArray[np.float32]]) -> None:
    header, at = {}, 0
    for name, values in tensors.items():
        ends = at + values.nbytes
        header[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [at, ends]}
        at = ends
    told = json.dumps(header).encode()
    data = b"".join(np.ascontiguousarray(it, np.float32).tobytes() for it in tensors.values())
    path.write_bytes(struct.pack("<Q", len(told)) + told + data)
