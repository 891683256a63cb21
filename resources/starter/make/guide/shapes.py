"""Shapes of the two networks: those of the small Gemma 4 models, much reduced."""

from typing import Any

from transformers import Gemma4AssistantConfig, Gemma4TextConfig

from guide.tokenizer import CONTEXT, VOCABULARY

HIDDEN = 192
HEAD_DIM, GLOBAL_HEAD_DIM = 64, 128
HEADS, KV_HEADS = 2, 1
WINDOW = 128
"""Sliding window, in tokens: a question and its answer fit."""

DRAFT_HIDDEN = 128
"""Must differ from HIDDEN: llama.cpp tells the two apart by it."""

_ROPE = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10_000.0},
    "full_attention": {
        "rope_type": "proportional",
        "partial_rotary_factor": 0.25,
        "rope_theta": 1_000_000.0,
    },
}


def target_config(eos: list[int], pad: int, bos: int) -> Gemma4TextConfig:
    """Return the shape of the target: four layers, sliding and full attention in turn.

    As in E2B, the last layers reuse the keys and values of the last sliding and the last full
    layer before them and have feed-forward parts of double width, and every layer has an
    embedding of its own. llama.cpp's drafter reads the keys and values of the last two layers,
    which therefore have to be sliding and full, in this order.
    """
    return Gemma4TextConfig(
        architectures=["Gemma4ForCausalLM"],
        vocab_size=VOCABULARY,
        hidden_size=HIDDEN,
        intermediate_size=256,
        num_hidden_layers=4,
        layer_types=["sliding_attention", "full_attention"] * 2,
        num_kv_shared_layers=2,
        use_double_wide_mlp=True,
        vocab_size_per_layer_input=VOCABULARY,
        hidden_size_per_layer_input=16,
        **_common(eos, pad, bos),
    )


def drafter_config(eos: list[int], pad: int, bos: int) -> Gemma4AssistantConfig:
    """Return the shape of the drafter: two layers over the target's keys and values."""
    text = Gemma4TextConfig(
        vocab_size=VOCABULARY,
        hidden_size=DRAFT_HIDDEN,
        intermediate_size=256,
        num_hidden_layers=2,
        layer_types=["sliding_attention", "full_attention"],
        num_kv_shared_layers=2,
        use_double_wide_mlp=False,
        vocab_size_per_layer_input=0,
        hidden_size_per_layer_input=0,
        **_common(eos, pad, bos),
    )
    return Gemma4AssistantConfig(
        architectures=["Gemma4AssistantForCausalLM"],
        text_config=text,
        backbone_hidden_size=HIDDEN,
        use_ordered_embeddings=False,
        tie_word_embeddings=True,
        eos_token_id=eos,
        pad_token_id=pad,
        bos_token_id=bos,
    )


def _common(eos: list[int], pad: int, bos: int) -> dict[str, Any]:
    return {
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "global_head_dim": GLOBAL_HEAD_DIM,
        "sliding_window": WINDOW,
        "max_position_embeddings": CONTEXT,
        "rope_parameters": _ROPE,
        "tie_word_embeddings": True,
        "eos_token_id": eos,
        "pad_token_id": pad,
        "bos_token_id": bos,
    }
