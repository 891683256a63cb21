"""The architectures that have prediction layers, and those that have a recurrent state.

Source: the graphs of src/models/*.cpp that are built for LLM_GRAPH_TYPE_DECODER_MTP, what they
assert, and the lists of architectures in llama-arch.cpp, all of the llama.cpp that Hearth pins.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from engines.sentences import N_

# A file of these with more than one head would crash the process in an assertion of the graph.
ONE_HEAD: Final = {
    "bailingmoe3", "cohere2moe", "deepseek2", "deepseek32", "deepseek4", "glm-dsa", "glm4moe",
    "nemotron_h_moe", "qwen35", "qwen35moe", "qwen3next",
}  # fmt: skip
# Each head of these predicts one token further than the head before it.
CHAINED: Final = {"hy_v3", "mimo2", "step35"}
# Tensors that a head of these also needs, although the library treats them as optional.
EXTRA_TENSORS: Final = {"mimo2": ("attn_qkv",)}
RECURRENT: Final = {
    "arwkv7", "bailingmoe3", "deepseek4", "falcon-h1", "glm5-next", "granitehybrid", "jamba",
    "kimi-k3", "kimi-linear", "lfm2", "lfm2moe", "mamba", "mamba2", "minimax-01", "nemotron_h",
    "nemotron_h_moe", "plamo2", "qwen35", "qwen35moe", "qwen3next", "qwen4exp", "rwkv6",
    "rwkv6qwen2", "rwkv7",
}  # fmt: skip
# llm_arch_supports_rs_rollback: the states after each of the last few tokens are kept.
ROLLBACK: Final = {
    "bailingmoe3", "deepseek4", "glm5-next", "kimi-k3", "lfm2", "lfm2moe", "nemotron_h",
    "nemotron_h_moe", "qwen35", "qwen35moe", "qwen4exp",
}  # fmt: skip


def recurrent(architecture: str) -> bool:
    """Return whether some layers keep a state that every token changes, besides a cache."""
    return architecture in RECURRENT


def keeps_states(architecture: str) -> bool:
    """Return whether the recurrent states after each of the last few tokens can be kept."""
    return architecture in ROLLBACK


def chained(architecture: str, heads: int) -> bool:
    """Return whether the heads are chained, instead of one head making all predictions."""
    return architecture in CHAINED and heads > 1


def predicts(architecture: str) -> bool:
    """Return whether prediction layers of this architecture can be run."""
    return architecture in ONE_HEAD | CHAINED


def is_heads_only(heads: int, layers: int, tensors: Collection[str]) -> bool:
    """Return whether a file contains only prediction layers, cut off from their model."""
    first = f"blk.{layers - heads}.nextn.eh_proj.weight"
    return bool(heads) and first in tensors and "blk.0.attn_norm.weight" not in tensors


def is_output(tensor: str) -> bool:
    """Return whether a tensor turns hidden states into logits, for a model or for its heads."""
    return tensor == "output.weight" or tensor.endswith(".nextn.shared_head_head.weight")


def why_heads_unusable(architecture: str, heads: int, layers: int, tensors: Collection[str]) -> str:
    """Return a sentence on why prediction layers without their model cannot be run; "" if they can.

    The library gives them no token table but their own.
    """
    for name in ("token_embd", "output_norm"):
        if f"{name}.weight" not in tensors:
            return N_(
                "It has no tensor “{name}”, and the engine cannot use the model’s: "
                "only files with their own can be run.",
                name=name,
            )
    return why_no_head(architecture, heads, layers, tensors)


def why_no_head(architecture: str, heads: int, layers: int, tensors: Collection[str]) -> str:
    """Return a sentence on why the heads that a file claims cannot be run; "" if they can.

    The number of heads alone is not reliable: some files were saved without them.

    Args:
        heads: Number of heads that the file claims.
        layers: Number of all layers.
        tensors: Names of all tensors.
    """
    if not predicts(architecture):
        return N_(
            "This file has an MTP head, but the engine cannot run one of the kind {architecture}.",
            architecture=architecture,
        )
    if architecture in ONE_HEAD and heads > 1:
        return N_(
            "This file says it has {heads} MTP heads, but the engine can run only one "
            "of this kind.",
            heads=heads,
        )
    for layer in range(layers - heads, layers):
        for part in ("nextn.eh_proj", *EXTRA_TENSORS.get(architecture, ())):
            if f"blk.{layer}.{part}.weight" not in tensors:
                return N_("This file says it has an MTP head, but was saved without it.")
    return ""
