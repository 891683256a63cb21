"""Drafters for the made Qwen that read the inputs of some of its layers: Eagle-3 and DFlash.

They are laid out as conversion/llama.py and qwen.py of llama.cpp write them. Eagle-3 can guess most
of the tokens, not all (`d2t`), and uses the target's token embeddings. DFlash uses both embeddings
and output matrix of the target.

An Eagle-3 drafter finds the current token with an attention that looks at its own position, and the
memory of the token before it in its input. DFlash finds both one and two positions before the first
unknown token, and nothing about the tokens after that one. DSpark begins with the known token, and
its Markov head tells each guess the one before it.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np

from tests.support.made_blocks import (
    NOISE,
    Random,
    Tensors,
    common,
    feed,
    given,
    named,
    vector,
)
from tests.support.made_gguf import (
    NORMAL,
    Floats,
    Tensor,
    starter_tokens,
    write_model,
)
from tests.support.made_language import SEEN, make_language
from tests.support.made_look_back import ROPE_BASE, SHARE
from tests.support.made_qwen import Qwen

LAYERS = (1, 2, 3)
"""The target's layers that it reads. The last one holds the memory of the token before."""

_PAIRS = 6
_HEADS = 2
_FOCUS = 2.45
_SHARPNESS = 60.0
_LOUD = 5.0
"""How much louder a found token is than the token that stands for unknown ones."""

_MARKOV = 2.0
"""How much louder the followers of the previous guess are than everything else known."""

_BLOCK = 9
_KERNEL, _GROUP, _CHOICES = 3, 32, 8


def write_eagle(path: Path, *, noise: float = NOISE) -> Path:
    """Write an Eagle-3 drafter for the model of `write_qwen`."""
    tokens, kind, target = starter_tokens(), "eagle3", Qwen()
    language, random = make_language(tokens, target.width), Random(5)
    width, head = target.width, target.width // _HEADS
    text = np.flatnonzero(tokens.types == NORMAL)
    guessed = np.sort(np.random.default_rng(6).permutation(text)[: len(text) * 19 // 20])
    block = {
        "attn_norm": vector(width),
        "attn_norm_2": vector(width),
        "attn_q": _always(np.tile(_places(head, 0), _HEADS), 2 * width, _FOCUS),
        "attn_k": _always(np.tile(_places(head, 0), _HEADS), 2 * width, _FOCUS),
        "attn_v": given(np.eye(width, 2 * width, dtype=np.float32)),
        "attn_output": _plus(random.matrix(width, width, noise), np.eye(width, dtype=np.float32)),
        "ffn_norm": vector(width),
        **feed(random, width, target.inner, noise),
    }
    remembered = np.zeros((width, len(LAYERS) * width), np.float32)
    for place in range(len(LAYERS)):
        columns = slice(place * width + SEEN.start, place * width + SEEN.stop)
        remembered[:, columns] = language.memory * np.float32(SHARE / len(LAYERS))
    tensors = {
        "fc.weight": _plus(random.matrix(width, remembered.shape[1], noise), remembered),
        "output_norm.weight": vector(width),
        "output.weight": given(language.output[guessed]),
        "d2t": Tensor((len(guessed),), lambda: guessed.astype(np.int64)),
        **named(0, block),
    }
    values = common(kind, "Made Eagle", 1, width, target.inner) | {
        f"{kind}.attention.head_count": _HEADS,
        f"{kind}.attention.head_count_kv": _HEADS,
        f"{kind}.attention.key_length": head,
        f"{kind}.attention.value_length": head,
        f"{kind}.rope.freq_base": ROPE_BASE,
        f"{kind}.rope.dimension_count": head,
        f"{kind}.target_layers": list(LAYERS),
        f"{kind}.target_hidden_size": width,
        f"{kind}.norm_before_residual": False,
        f"{kind}.norm_before_fc": False,
    }
    return write_model(path, kind, values | dict(tokens.values), tensors)


def write_dflash(
    path: Path, *, markov: bool = False, second: bool = False, noise: float = NOISE
) -> Path:
    """Write a DFlash drafter for the model of `write_qwen`.

    Args:
        path: The file to write.
        markov: True for a Markov head, which makes it a DSpark.
        second: True for the second DFlash.
        noise: How much its layers disturb its guess.
    """
    tokens, kind, target = starter_tokens(), "dflash", Qwen()
    language, random = make_language(tokens, target.width), Random(7)
    width = head = target.width
    # One head looks one place back for the whole token, the other two back for its memory.
    found = np.zeros((_HEADS * head, width), np.float32)
    found[:head] = np.eye(head)
    found[head : head + SEEN.stop - SEEN.start, SEEN] = np.eye(SEEN.stop - SEEN.start)
    said = np.zeros((width, _HEADS * head), np.float32)
    said[:, :head] = np.eye(width) * _LOUD
    said[:, head : head + SEEN.stop - SEEN.start] = language.memory * SHARE * _LOUD
    first = 0 if markov else 1
    back = np.concatenate([_places(head, first), _places(head, first + 1)])
    looks = {
        "attn_norm": vector(width),
        "attn_q": _always(back, width, 1.0),
        "attn_k": _always(np.tile(_places(head, 0), _HEADS), width, 1.0),
        "attn_v": given(found),
        "attn_output": _plus(random.matrix(width, _HEADS * head, noise), said),
        "attn_q_norm": vector(head, _SHARPNESS * head**-0.5),
        "attn_k_norm": vector(head),
        "ffn_norm": vector(width),
        **feed(random, width, target.inner, noise),
    }
    slides = {
        "attn_norm": vector(width),
        "attn_q": random.matrix(_HEADS * head, width),
        "attn_k": random.matrix(_HEADS * head, width),
        "attn_v": random.matrix(_HEADS * head, width),
        "attn_output": random.matrix(width, _HEADS * head, noise * _LOUD),
        "attn_q_norm": vector(head),
        "attn_k_norm": vector(head),
        "ffn_norm": vector(width),
        **feed(random, width, target.inner, noise),
    }
    itself = np.zeros((2, _KERNEL, width), np.float32)
    itself[:, 0] = 1
    fused = np.zeros((width, len(LAYERS) * width), np.float32)
    for place in range(len(LAYERS)):
        fused[:, place * width : (place + 1) * width] = np.eye(width) / len(LAYERS)
    tensors: Tensors = {
        "fc.weight": _plus(random.matrix(width, fused.shape[1], noise), fused),
        "enc.output_norm.weight": vector(width),
        "output_norm.weight": vector(width),
        **named(0, looks),
        **named(1, slides),
    }
    values = common(kind, "Made DFlash", 2, width, target.inner) | {
        f"{kind}.attention.head_count": _HEADS,
        f"{kind}.attention.head_count_kv": _HEADS,
        f"{kind}.attention.key_length": head,
        f"{kind}.attention.value_length": head,
        f"{kind}.attention.sliding_window": 64,
        f"{kind}.attention.sliding_window_pattern": [False, True],
        f"{kind}.rope.freq_base": ROPE_BASE,
        f"{kind}.rope.dimension_count": head,
        # Like every target whose positions have several parts.
        f"{kind}.rope.dimension_sections": [head // 2, 0, 0, 0],
        f"{kind}.block_size": _BLOCK,
        f"{kind}.target_layers": list(LAYERS),
    }
    if markov:
        tensors["markov_w1.weight"] = given(language.embedding * np.float32(_MARKOV))
        tensors["markov_w2.weight"] = given(language.output)
        values |= {f"{kind}.sample_from_anchor": True, f"{kind}.has_confidence_head": False}
        values["general.name"] = "Made DSpark"
    if second:
        tensors |= {
            # Always one: the first column is the same for all tokens.
            "selector_hidden.weight": _always(np.ones(width, np.float32), width, 0.25),
            "selector_predecessor.weight": given(language.embedding),
            "selector_successor.weight": given(language.output),
        }
        for layer, part in product((0, 1), ("attn", "ffn")):
            mixing = random.matrix(2 * _KERNEL * width // _GROUP, width, noise)
            tensors[f"blk.{layer}.{part}_conv_base"] = given(itself)
            tensors[f"blk.{layer}.{part}_conv_proj.weight"] = mixing
        values |= {
            f"{kind}.conv_kernel_size": _KERNEL,
            f"{kind}.conv_group_size": _GROUP,
            f"{kind}.selector_rank": width,
            f"{kind}.selector_top_k": _CHOICES,
            "general.name": "Made DFlash 2",
        }
    return write_model(path, kind, values | dict(tokens.values), tensors)


def _places(head: int, back: int) -> Floats:
    """Return a query that meets the key `back` positions before its own, or the key itself."""
    turn = back * ROPE_BASE ** (-2.0 * np.arange(_PAIRS) / head)
    made = np.zeros(head, np.float32)
    made[:_PAIRS] = np.cos(turn)
    made[head // 2 : head // 2 + _PAIRS] = -np.sin(turn)
    return made


def _always(rows: Floats, width: int, scale: float) -> Tensor:
    """Return a matrix whose product is `rows`, up to its size, for every token."""
    values = np.zeros((len(rows), width), np.float32)
    values[:, 0] = rows * np.float32(scale)
    return given(values)


def _plus(noise: Tensor, known: Floats) -> Tensor:
    return Tensor(noise.shape, lambda: noise.make() + known)
