"""Refuses header values on which llama.cpp would end the whole process instead of the load.

Source: the GGML_ASSERT lines of `load_hparams` and `create_memory` in llama-model.cpp, and
thousands of changed files that were given to the library to see on which of them it ends; see
tests/faults. What is not known here ends the probe's process instead (`llamacpp.probe`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from engines.models.gguf.layers import Keys, Layers
from engines.models.gguf.reader import BadGguf, Tensor

MAX_EXPERTS: Final = 1024
_SHARING: Final = {"gemma3n", "gemma4"}
_EPSILONS: Final = ("layer_norm_epsilon", "layer_norm_rms_epsilon", "group_norm_epsilon")
_NOT_MULTIPLIED: Final = {"I8", "I16", "I32", "I64", "F64", "Q8_1", "Q8_K"}
_NUMBERED: Final = "tid2eid.weight"
"""How the names of those tensors end that hold whole numbers: experts by token (DeepSeek 4)."""

_F32: Final = ("_norm.weight", "conv1d.weight", ".bias", ".ssm_a", ".ssm_d")
"""How the names end of tensors that are no factors of a matrix product, whatever their shape."""

_DELTA_NETS: Final = {"qwen3next", "qwen35", "qwen35moe"}
_QWEN_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {"ssm_out": ("attn_qkv", "attn_gate")}
_NEEDS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "qwen35": _QWEN_NEEDS,
    "qwen35moe": _QWEN_NEEDS,
    "step35": {"ffn_up": ("ffn_down",), "ffn_down": ("ffn_up", "ffn_gate")},
}
"""Tensors that a layer needs if it has another; llama.cpp takes files without, and ends later."""

_HEADS: Final = "nextn_predict_layers"
_ROPE_SCALINGS: Final = {"none", "linear", "yarn", "longrope"}
# These read the pattern of their sliding layers from the file, and trust it to name one.
_SLIDING: Final = {"gemma4", "gemma4-assistant", "granite_swa", "maple", "mimo2", "step35"}


def check(keys: Keys, layers: Layers, tensors: Collection[Tensor]) -> None:
    """Raises BadGguf, in plain words."""
    _check_experts(keys, layers.count)
    scaling = keys.text("rope.scaling.type", "linear")
    if scaling not in _ROPE_SCALINGS:
        raise BadGguf(f"it asks for the position scaling {scaling!r}, which is not known")
    if keys.architecture in _SLIDING and not layers.window:
        raise BadGguf("none of its layers has a sliding window, although its family needs one")
    if keys.architecture != "gemma4-assistant" and layers.count <= keys.number(_HEADS):
        raise BadGguf("all of its layers are prediction layers, and none is left to predict for")
    _check_sharing(keys, layers)
    for heads, kv_heads in zip(layers.heads, layers.kv_heads, strict=True):
        if kv_heads and heads % kv_heads:
            raise BadGguf(f"its {heads} attention heads cannot share {kv_heads} keys evenly")
    _check_positions(keys, layers)
    _check_epsilons(keys)
    _check_state(keys)
    _check_company(keys.architecture, tensors)
    for tensor in tensors:
        _check_type(tensor)
        _check_keys(layers, tensor)


def _check_epsilons(keys: Keys) -> None:
    """What keeps a norm from dividing by zero."""
    for key in _EPSILONS:
        if not 0 <= (epsilon := keys.real(f"attention.{key}", 0.0)) < 1:
            raise BadGguf(f"its {key} is {epsilon}, and has to be a small positive number")


def _check_state(keys: Keys) -> None:
    """The size of a delta net's state is there twice."""
    heads, size = keys.number("ssm.time_step_rank"), keys.number("ssm.state_size")
    inner = keys.number("ssm.inner_size", heads * size)
    if keys.architecture in _DELTA_NETS and inner != heads * size:
        raise BadGguf(f"its state of {inner} values is not that of {heads} heads with {size} each")


def _check_company(architecture: str, tensors: Iterable[Tensor]) -> None:
    names = {tensor.name for tensor in tensors}
    for name in sorted(names):
        layer, _, rest = name.removesuffix(".weight").rpartition(".")
        for needed in _NEEDS.get(architecture, {}).get(rest, ()):
            if f"{layer}.{needed}.weight" not in names:
                raise BadGguf(f"the tensor '{layer}.{needed}.weight' is missing")


def _check_type(tensor: Tensor) -> None:
    """llama.cpp loads tensors of every type, and ends when it first computes with them.

    Matrices can be multiplied in most types; what is added or scaled with is F32 in every file.
    """
    if tensor.name.endswith(_NUMBERED):
        return
    is_matrix = len(tensor.shape) > 1 and not tensor.name.endswith(_F32)
    if tensor.type in _NOT_MULTIPLIED or (tensor.type != "F32" and not is_matrix):
        raise BadGguf(f"{tensor.name!r} is of type {tensor.type}, with which nothing can compute")


def _check_positions(keys: Keys, layers: Layers) -> None:
    """The part of a head that carries the position cannot be longer than the head.

    It is rotated in pairs; asked to rotate nothing, llama.cpp comes to no end.
    """
    rotated = keys.number("rope.dimension_count", layers.key_length)
    rotated_swa = keys.number("rope.dimension_count_swa", rotated)
    if rotated % 2 or rotated_swa % 2:
        raise BadGguf("it rotates an odd number of values of a head, and they go in pairs")
    if any(layers.heads) and (
        ("rope.freq_base" in keys and not rotated) or (layers.window and not rotated_swa)
    ):
        raise BadGguf("it rotates no values of its heads, although its family needs that")
    if sum(keys.numbers("rope.dimension_sections")) > layers.key_length > 0:
        raise BadGguf("the sections of what it rotates are longer than a head")
    longer_swa = layers.window and rotated_swa > layers.key_length_swa > 0
    if any(layers.heads) and (rotated > layers.key_length > 0 or longer_swa):
        raise BadGguf("it rotates more values of a head than a head has")


def _check_keys(layers: Layers, tensor: Tensor) -> None:
    """llama.cpp compares these tensors with the first layer's shape only, and trusts the rest."""
    found = re.fullmatch(r"blk\.(\d+)\.attn_k\.weight", tensor.name)
    if not found or (layer := int(found[1])) >= layers.count or len(tensor.shape) != 2:
        return
    length = layers.key_length_swa if layers.sliding[layer] else layers.key_length
    if tensor.shape[1] != layers.kv_heads[layer] * length:
        raise BadGguf(f"the keys of layer {layer} are not as wide as it says")


def _check_sharing(keys: Keys, layers: Layers) -> None:
    """Layers without a cache read that of the last layer of their own kind that has one.

    For llama.cpp that is the last owner for a layer with the whole context, and the one before
    for a layer with a window, whether they are of that kind or not.
    """
    if keys.architecture not in _SHARING:
        return
    owners = layers.count - layers.shared_kv
    kinds = tuple(zip(layers.sliding, layers.kv_heads, strict=True))
    for kind in kinds[owners:]:
        if kinds[owners - (2 if kind[0] else 1)] != kind:
            raise BadGguf("its layers without a KV cache find none of their own kind to share")


def _check_experts(keys: Keys, layers: int) -> None:
    """A mixture of experts must name how many there are, how many work, and in what groups."""
    if keys.architecture in {"hunyuan-dense", "hunyuan_vl"}:
        return
    experts = keys.number("expert_count")
    used = max(keys.per_layer("expert_used_count", layers, (0,) * layers))
    groups, groups_used = keys.number("expert_group_count"), keys.number("expert_group_used_count")
    fits = experts <= MAX_EXPERTS and (
        0 < used <= experts and groups < experts if experts else not used and not groups
    )
    if groups > 1:
        fits = fits and experts % groups == 0 and 0 < groups_used < groups
    if not fits:
        raise BadGguf(f"its {experts} experts in {groups} groups, {used} at work, do not add up")
