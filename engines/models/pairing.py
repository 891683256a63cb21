"""The check, before a load, of which drafter belongs to which model by their headers; pure.

Example::

    require_pair(read_header(model), read_header(drafter))

A drafter for Gemma 4 reads the keys and values of its target's last two layers, and receives its
hidden states. Prediction layers in a file of their own receive hidden states alone; they were cut
off from a model of the same kind, width and number of layers. If shapes differ, llama.cpp crashes
or drafts nonsense. An Eagle-3, DFlash or DSpark drafter receives the inputs of some layers of its
target, which must be of an architecture for which the engine provides them. A whole model can draft
for any larger one with the same vocabulary.

Source: src/models/gemma4-assistant.cpp, eagle3.cpp and dflash.cpp, `create_memory` in
llama-model.cpp, and what conversion/qwen.py writes with --mtp and --no-mtp.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from engines.errors import DrafterMismatch
from engines.models.gguf import heads
from engines.models.gguf.features import DFLASH, EAGLE3, DrafterInputs, provides_input
from engines.models.gguf.header import GEMMA4_ASSISTANT, GgufHeader
from engines.models.gguf.layers import Layers
from engines.sentences import N_

_TARGETS: Final = {GEMMA4_ASSISTANT: "gemma4"}
"""The architectures of drafters that read their target's KV cache, and of these targets."""

_HEADS_ADVICE: Final = N_(
    "This model answers faster with its prediction layers (mtp-….gguf), which can be added as a"
    " model."
)
_DRAFTER_ADVICE: Final = {
    "gemma4": N_(
        "This model answers faster with its drafter (gemma4-assistant), which can be added as"
        " a model."
    ),
    "qwen35": _HEADS_ADVICE,
    "qwen35moe": _HEADS_ADVICE,
}
"""Architectures whose models were all published with a drafter; a file can lack it."""


def may_draft(architecture: str) -> bool:
    """Return whether some files of this architecture are drafters."""
    return architecture in {*_TARGETS, EAGLE3, DFLASH} or heads.predicts(architecture)


def may_have_drafter(architecture: str) -> bool:
    """Return whether separate drafter files may exist for models of this architecture."""
    return often_has_drafter(architecture) or provides_input(architecture)


def often_has_drafter(architecture: str) -> bool:
    """Return whether an unreadable drafter is likely to be for models of this architecture."""
    return architecture in _TARGETS.values() or heads.predicts(architecture)


def require_pair(target: GgufHeader, drafter: GgufHeader) -> None:
    """Refuse a drafter that cannot draft for `target`. Raises DrafterMismatch."""
    for reason in _mismatches(target, drafter):
        raise DrafterMismatch(
            N_(
                "“{name}” cannot guess ahead for “{target_name}”.",
                name=drafter.name,
                target_name=target.name,
            ),
            reason,
            N_("Use the drafter that was made for this model, or none."),
        )


def pairs(target: GgufHeader, drafter: GgufHeader) -> bool:
    """Return whether `drafter` can draft for `target`."""
    return next(_mismatches(target, drafter), None) is None


def require_runnable(drafter: GgufHeader) -> None:
    """Refuse a file that no model can use as its drafter here. Raises DrafterMismatch."""
    if reason := _unusable(drafter):
        raise DrafterMismatch(
            N_("“{name}” cannot be used.", name=drafter.name),
            reason,
            N_(
                "Use a model with MTP in its own file, or the drafter that was made for your model."
            ),
        )


def best(target: GgufHeader, drafters: Iterable[tuple[Path, GgufHeader]]) -> Path | None:
    """Return the best drafter for `target`, or None if none fits.

    Drafters cut off from a model are preferred to those trained for it later, which read the inputs
    of its layers; then a drafter quantised like the target; then the one with the most bytes of
    weights.
    """
    fitting = [(path, header) for path, header in drafters if pairs(target, header)]

    def rank(candidate: tuple[Path, GgufHeader]) -> tuple[bool, bool, int, str]:
        path, header = candidate
        same_quantisation = header.quantisation == target.quantisation
        return header.features is None, same_quantisation, header.weight_bytes, str(path)

    return max(fitting, key=rank)[0] if fitting else None


def mtp_advice(header: GgufHeader) -> str:
    """Return a sentence on what drafts for a model without a drafter file, or would help it."""
    if header.mtp == "embedded":
        return N_("This model can answer faster: its file predicts several tokens at once.")
    if header.why_no_head:
        return header.why_no_head
    if header.architecture in _DRAFTER_ADVICE:
        return _DRAFTER_ADVICE[header.architecture]
    return N_("This model cannot guess ahead; only text that it copies comes faster.")


def _unusable(drafter: GgufHeader) -> str:
    if drafter.kind == "chat":
        reason = N_(
            "Models of the kind {architecture} cannot remove tokens from their memory.",
            architecture=drafter.architecture,
        )
        return reason if drafter.recurrent else ""
    if drafter.kind != "drafter":
        return N_("It is not a drafter.")
    if drafter.heads_alone or drafter.features is not None:
        return drafter.why_no_head
    if drafter.nextn_predict_layers != drafter.block_count:
        return N_("It contradicts itself: not all of its layers are prediction layers.")
    return ""


def _mismatches(target: GgufHeader, drafter: GgufHeader) -> Iterator[str]:
    """Yield the reasons why a drafter does not fit, in plain words, the most telling one first."""
    if reason := _unusable(drafter):
        yield reason
        return
    if drafter.kind == "chat":
        yield from _vocabularies(target, drafter)
        if drafter.weight_bytes >= target.weight_bytes:
            yield N_("It is no smaller than the model itself.")
        return
    if drafter.features is not None:
        yield from _vocabularies(target, drafter)
        yield from _input_mismatches(target, drafter, drafter.features)
        return
    family = _TARGETS.get(drafter.architecture, drafter.architecture)
    if target.architecture != family:
        yield N_(
            "It is for models of the kind {family}, and this one is {architecture}.",
            family=family,
            architecture=target.architecture,
        )
        return
    yield from _vocabularies(target, drafter)
    if drafter.heads_alone:
        yield from _trunk_differences(target, drafter)
        return
    if drafter.embedding_length_out != target.embedding_length:
        yield (
            N_(
                "It was made for a model of width {width}, and this one has {target_width}.",
                width=f"{drafter.embedding_length_out:,}",
                target_width=f"{target.embedding_length:,}",
            )
        )
    if target.layers is None or drafter.layers is None:
        yield N_("One of the two files does not describe its layers.")
    else:
        yield from _attention(target.layers, drafter.layers)


def _trunk_differences(target: GgufHeader, drafter: GgufHeader) -> Iterator[str]:
    """Yield the differences between the target and the model that the layers were cut off from."""
    if drafter.embedding_length != target.embedding_length:
        yield (
            N_(
                "It was made for a model of width {width}, and this one has {target_width}.",
                width=f"{drafter.embedding_length:,}",
                target_width=f"{target.embedding_length:,}",
            )
        )
    if drafter.trunk != target.trunk:
        yield (
            N_(
                "It was made for a model of {layers} layers, and this one has {target_layers}.",
                layers=drafter.trunk,
                target_layers=target.trunk,
            )
        )
    if target.own_output and not drafter.own_output:
        yield N_("The model has an output layer of its own, which is missing here.")


def _input_mismatches(
    target: GgufHeader, drafter: GgufHeader, inputs: DrafterInputs
) -> Iterator[str]:
    """Yield the reasons why the target cannot provide what a drafter reads or lacks."""
    if not provides_input(target.architecture):
        yield (
            N_(
                "It reads the inputs of its model’s layers, which the engine does not "
                "provide for models of the kind {architecture}.",
                architecture=target.architecture,
            )
        )
        return
    widths = {inputs.width}
    if not (inputs.own_table and inputs.own_output):
        widths.add(drafter.embedding_length)
    for width in sorted(widths - {target.embedding_length}):
        yield (
            N_(
                "It was made for a model of width {width}, and this one has {target_width}.",
                width=f"{width:,}",
                target_width=f"{target.embedding_length:,}",
            )
        )
    for layer in inputs.layers:
        if not provides_input(target.architecture, layer, target.trunk):
            yield N_(
                "It reads layer {layer} of its model, and this one has {trunk}.",
                layer=layer,
                trunk=target.trunk,
            )


def _vocabularies(target: GgufHeader, drafter: GgufHeader) -> Iterator[str]:
    if drafter.vocab_size != target.vocab_size:
        yield (
            N_(
                "It knows {vocabulary} tokens, and the model {target_vocabulary}: they have "
                "different vocabularies.",
                vocabulary=f"{drafter.vocab_size:,}",
                target_vocabulary=f"{target.vocab_size:,}",
            )
        )
    elif drafter.vocabulary != target.vocabulary:
        yield N_("They have different vocabularies of the same size.")


def _attention(target: Layers, drafter: Layers) -> Iterator[str]:
    """Yield the differences between the drafter's attention and the target's layer that it reads.

    A layer of the drafter with a sliding window reads the target's last layer but one; any other
    reads the last.
    """
    if target.sliding[-2:] != (True, False):
        yield (
            N_(
                "It reads the model's last two layers, of which one should have a sliding window "
                "and"
                " the last one the whole context; here they do not."
            )
        )
        return
    if drafter.window != target.window:
        yield N_(
            "It looks back {window} tokens, and the model {target_window}.",
            window=f"{drafter.window:,}",
            target_window=f"{target.window:,}",
        )
    kinds = (
        ("key", drafter.key_length, target.key_length),
        ("value", drafter.value_length, target.value_length),
        (N_("sliding key"), drafter.key_length_swa, target.key_length_swa),
        (N_("sliding value"), drafter.value_length_swa, target.value_length_swa),
    )
    for kind, length, target_length in kinds:
        if length != target_length:
            yield N_(
                "The {kind}s that it reads are {length} values long, and the model’s "
                "are {target_length}.",
                kind=kind,
                length=length,
                target_length=target_length,
            )
    for sliding, kv_heads in zip(drafter.sliding, drafter.kv_heads, strict=True):
        target_heads = target.kv_heads[-2 if sliding else -1]
        if kv_heads != target_heads:
            yield N_(
                "It reads the keys of {kv_heads} heads, and the model has {target_heads}.",
                kv_heads=kv_heads,
                target_heads=target_heads,
            )
