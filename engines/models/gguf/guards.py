"""Checks for header values on which llama.cpp would abort the process instead of the load.

Source: the GGML_ASSERT lines of `load_hparams` and `create_memory` in llama-model.cpp, and
thousands of modified files that were given to the library to see which of them crash it; see
tests/faults. Unknown cases crash the probe's process instead (`llamacpp.probe`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from gguf import Keys as Names

from engines.models.gguf.hyperparameters import Hyperparameters
from engines.models.gguf.layers import Layers
from engines.models.gguf.reader import BadGguf, Tensor
from engines.sentences import N_

MAX_EXPERTS: Final = 1024
SHARING: Final = {"gemma3n", "gemma4"}
_EPSILONS: Final = (
    Names.Attention.LAYERNORM_EPS,
    Names.Attention.LAYERNORM_RMS_EPS,
    Names.Attention.GROUPNORM_EPS,
)
_NOT_MULTIPLIED: Final = {"I8", "I16", "I32", "I64", "F64", "Q8_1", "Q8_K"}
_NUMBERED: Final = ("tid2eid.weight", "d2t")
"""Suffixes of tensors of whole numbers: experts by token (DeepSeek 4), and a drafter's tokens."""

_F32: Final = ("_norm.weight", "conv1d.weight", ".bias", ".ssm_a", ".ssm_d", "_conv_base")
"""Suffixes of tensors that are not factors of a matrix product, whatever their shape."""

DELTA_NETS: Final = {"qwen3next", "qwen35", "qwen35moe"}
_QWEN_NEEDS: Final[Mapping[str, tuple[str, ...]]] = {"ssm_out": ("attn_qkv", "attn_gate")}
NEEDS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "qwen35": _QWEN_NEEDS,
    "qwen35moe": _QWEN_NEEDS,
    "step35": {"ffn_up": ("ffn_down",), "ffn_down": ("ffn_up", "ffn_gate")},
}
"""Tensors that a layer with another one needs; llama.cpp loads files without them, then crashes."""

_ROPE_SCALINGS: Final = {"none", "linear", "yarn", "longrope"}
# These read the pattern of sliding layers from the file, and rely on it having at least one.
SLIDING: Final = {"gemma4", "gemma4-assistant", "granite_swa", "maple", "mimo2", "step35"}


def check(hparams: Hyperparameters, layers: Layers, tensors: Collection[Tensor]) -> None:
    """Refuse such values, with a reason in plain words. Raises BadGguf."""
    _check_experts(hparams, layers.count)
    scaling = hparams.text(Names.Rope.SCALING_TYPE, "linear")
    if scaling not in _ROPE_SCALINGS:
        raise BadGguf(
            N_(
                "it asks for the position scaling {scaling}, which is not known",
                scaling=f"{scaling!r}",
            )
        )
    if hparams.architecture in SLIDING and not layers.window:
        raise BadGguf(N_("none of its layers has a sliding window, although its family needs one"))
    window_size = hparams.number(Names.Attention.SLIDING_WINDOW)
    if hparams.architecture == "dflash" and window_size and not layers.window:
        raise BadGguf(N_("it names a sliding window, and none of its layers has one"))
    predicting = hparams.number(Names.LLM.NEXTN_PREDICT_LAYERS)
    if hparams.architecture != "gemma4-assistant" and layers.count <= predicting:
        raise BadGguf(
            N_("all of its layers are prediction layers, and none is left to predict for")
        )
    _check_sharing(hparams, layers)
    for heads, kv_heads in zip(layers.heads, layers.kv_heads, strict=True):
        if kv_heads and heads % kv_heads:
            raise BadGguf(
                N_(
                    "its {heads} attention heads cannot share {kv_heads} keys evenly",
                    heads=heads,
                    kv_heads=kv_heads,
                )
            )
    _check_positions(hparams, layers)
    _check_epsilons(hparams)
    _check_state(hparams)
    _check_companions(hparams.architecture, tensors)
    for tensor in tensors:
        _check_type(tensor)
        _check_keys(layers, tensor)


def _check_epsilons(hparams: Hyperparameters) -> None:
    """Check the epsilons that keep a norm from dividing by zero."""
    for key in _EPSILONS:
        if not 0 <= (epsilon := hparams.real(key, 0.0)) < 1:
            name = key.rpartition(".")[2]
            raise BadGguf(
                N_(
                    "its {name} is {epsilon}, and has to be a small positive number",
                    name=name,
                    epsilon=epsilon,
                )
            )


def _check_state(hparams: Hyperparameters) -> None:
    """Check that the two sizes of a delta net's state agree."""
    heads, size = hparams.number(Names.SSM.TIME_STEP_RANK), hparams.number(Names.SSM.STATE_SIZE)
    inner = hparams.number(Names.SSM.INNER_SIZE, heads * size)
    if hparams.architecture in DELTA_NETS and inner != heads * size:
        raise BadGguf(
            N_(
                "its state of {inner} values is not that of {heads} heads with {size} each",
                inner=inner,
                heads=heads,
                size=size,
            )
        )


def _check_companions(architecture: str, tensors: Iterable[Tensor]) -> None:
    names = {tensor.name for tensor in tensors}
    for name in sorted(names):
        layer, _, rest = name.removesuffix(".weight").rpartition(".")
        for needed in NEEDS.get(architecture, {}).get(rest, ()):
            if f"{layer}.{needed}.weight" not in names:
                raise BadGguf(
                    N_(
                        "the tensor '{layer}.{needed}.weight' is missing",
                        layer=layer,
                        needed=needed,
                    )
                )


def _check_type(tensor: Tensor) -> None:
    """Refuse a type that llama.cpp loads, but aborts on when it computes.

    Most types can be used in matrix products; tensors that are added or scaled with are always F32.
    """
    if tensor.name.endswith(_NUMBERED):
        return
    is_matrix = len(tensor.shape) > 1 and not tensor.name.endswith(_F32)
    if tensor.type in _NOT_MULTIPLIED or (tensor.type != "F32" and not is_matrix):
        raise BadGguf(
            N_(
                "{name} is of type {type}, which cannot be used in a computation",
                name=f"{tensor.name!r}",
                type=tensor.type,
            )
        )


def _check_positions(hparams: Hyperparameters, layers: Layers) -> None:
    """Check that no more values of a head are rotated for the position than the head has.

    They are rotated in pairs. If no values are rotated, llama.cpp never finishes.
    """
    rotated = hparams.number(Names.Rope.DIMENSION_COUNT, layers.key_length)
    rotated_swa = hparams.number(Names.Rope.DIMENSION_COUNT_SWA, rotated)
    if rotated % 2 or rotated_swa % 2:
        raise BadGguf(N_("it rotates an odd number of values of a head, and they go in pairs"))
    if any(layers.heads) and (
        (Names.Rope.FREQ_BASE in hparams and not rotated) or (layers.window and not rotated_swa)
    ):
        raise BadGguf(N_("it rotates no values of its heads, although its family needs that"))
    if sum(hparams.numbers(Names.Rope.DIMENSION_SECTIONS)) > layers.key_length > 0:
        raise BadGguf(N_("the sections that it rotates are longer than a head"))
    longer_swa = layers.window and rotated_swa > layers.key_length_swa > 0
    if any(layers.heads) and (rotated > layers.key_length > 0 or longer_swa):
        raise BadGguf(N_("it rotates more values of a head than a head has"))


def _check_keys(layers: Layers, tensor: Tensor) -> None:
    """Check the shapes of every layer's keys: llama.cpp checks only the first layer's."""
    match = re.fullmatch(r"blk\.(\d+)\.attn_k\.weight", tensor.name)
    if not match or (layer := int(match[1])) >= layers.count or len(tensor.shape) != 2:
        return
    length = layers.key_length_swa if layers.sliding[layer] else layers.key_length
    if tensor.shape[1] != layers.kv_heads[layer] * length:
        raise BadGguf(N_("the keys of layer {layer} are not as wide as it says", layer=layer))


def _check_sharing(hparams: Hyperparameters, layers: Layers) -> None:
    """Check that layers without a cache can read that of the last layer of their kind that has one.

    llama.cpp takes the last owner for a layer with the whole context, and the one before it for a
    layer with a window, whether or not these owners are of that kind.
    """
    if hparams.architecture not in SHARING:
        return
    owners = layers.count - layers.shared_kv
    kinds = tuple(zip(layers.sliding, layers.kv_heads, strict=True))
    for kind in kinds[owners:]:
        if kinds[owners - (2 if kind[0] else 1)] != kind:
            raise BadGguf(N_("its layers without a KV cache find none of their own kind to share"))


def _check_experts(hparams: Hyperparameters, layers: int) -> None:
    """Check that a mixture's numbers of experts, of active experts and of groups are consistent."""
    if hparams.architecture in {"hunyuan-dense", "hunyuan_vl"}:
        return
    experts = hparams.number(Names.LLM.EXPERT_COUNT)
    active = max(hparams.per_layer(Names.LLM.EXPERT_USED_COUNT, layers, (0,) * layers))
    groups = hparams.number(Names.LLM.EXPERT_GROUP_COUNT)
    groups_used = hparams.number(Names.LLM.EXPERT_GROUP_USED_COUNT)
    fits = experts <= MAX_EXPERTS and (
        0 < active <= experts and groups < experts if experts else not active and not groups
    )
    if groups > 1:
        fits = fits and experts % groups == 0 and 0 < groups_used < groups
    if not fits:
        raise BadGguf(
            N_(
                "its {experts} experts in {groups} groups, {used} of them active, do not add up",
                experts=experts,
                groups=groups,
                used=active,
            )
        )
