"""Whether a checkpoint's tensors are those that its config.json tells of: pure.

Only what is the same in every model of this layout is compared: the embedding, the layers' count,
the width of what goes into them, and the projections of an assistant. Tensors that are packed by a
quantisation have shapes of their own, and are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_BODY: Final = r"^(?:model\.|language_model\.|model\.language_model\.|language_model\.model\.)?"
_EMBEDDING: Final = re.compile(_BODY + r"embed_tokens\.weight$")
_LAYER: Final = re.compile(_BODY + r"layers\.(\d+)\.(.+)$")
_INPUTS: Final = {f"self_attn.{name}_proj.weight" for name in "qkv"}
_PLAIN: Final = {"F32", "F16", "BF16"}
_NETWORK: Final = re.compile(r"^(.+\.)(gate|up|down)_proj\.[^.]+$")
"""A part of a layer's feed-forward network, packed or not, also of one expert's."""

_REST: Final = {"gate": ("up", "down"), "up": ("down",)}
"""What there is beside a part: with the gate all three, and some networks have no gate. vLLM says
nothing of those that are not there, and writes nonsense."""


def contradiction(
    text: Mapping[str, Any], tensors: Mapping[str, Any], backbone: int | None = None
) -> str:
    """What does not belong together, as a sentence; "" where all does.

    text: the part of config.json on the language model. tensors: by name, with dtype and shape.
    backbone: of an assistant, the width of the model that it drafts for.
    """
    return next(_contradictions(text, tensors, backbone), "")


def _contradictions(
    text: Mapping[str, Any], tensors: Mapping[str, Any], backbone: int | None
) -> Iterator[str]:
    width, layers = int(text.get("hidden_size") or 0), int(text.get("num_hidden_layers") or 0)
    plain = {name: it["shape"] for name, it in tensors.items() if it.get("dtype") in _PLAIN}
    for name, shape in plain.items():
        if _EMBEDDING.match(name):
            yield from _other(name, shape, [int(text.get("vocab_size") or 0), width])
        elif (found := _LAYER.match(name)) and found[2] in _INPUTS:
            yield from _other(name, shape, [shape[0], width])
    seen = {int(found[1]) for name in tensors if (found := _LAYER.match(name))}
    # A wrong description may tell of any number of them, so they make no set of their own.
    gone = next((it for it in range(layers) if it not in seen), None) if seen else None
    if gone is not None:
        yield (
            f"Its config.json tells of {layers} layers, and the tensors of layer {gone} are not "
            "in its files."
        )
    parts = {(found[1], found[2]) for name in tensors if (found := _NETWORK.match(name))}
    for network, part in sorted(parts):
        for other in _REST.get(part, ()):
            if (network, other) not in parts:
                yield f"The tensor {network}{other}_proj of its network is not in its files."
    if backbone is not None:
        yield from _of_an_assistant(plain, seen, layers, width, backbone)


def _of_an_assistant(
    plain: Mapping[str, list[int]], seen: set[int], layers: int, width: int, backbone: int
) -> Iterator[str]:
    if more := sorted(it for it in seen if it >= layers):
        yield (
            f"Its config.json tells of {layers} layers, and its files hold tensors of layer "
            f"{more[0]}."
        )
    for name, expected in (
        ("pre_projection.weight", [width, 2 * backbone]),
        ("post_projection.weight", [backbone, width]),
    ):
        if name in plain:
            yield from _other(name, plain[name], expected)


def _other(name: str, shape: list[int], expected: list[int]) -> Iterator[str]:
    """A length of 0 is not known."""
    if len(shape) != len(expected) or any(
        want and want != have for have, want in zip(shape, expected, strict=True)
    ):
        yield (
            f"By its config.json the tensor {name} is {_shape(expected)}, and in its files it is "
            f"{_shape(shape)}."
        )


def _shape(lengths: list[int]) -> str:
    return " × ".join(f"{it:,}" if it else "?" for it in lengths)
