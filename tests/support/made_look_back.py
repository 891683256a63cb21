"""An attention layer that looks at the token before the current one, and at nothing else.

It lets the next token depend on the last two. A head that receives the right hidden state knows
the layer's result; with a wrong one it guesses worse. So a mistake in handing states over shows
in the share of accepted guesses, and not only in the speed of an answer.
"""

from __future__ import annotations

import numpy as np

from tests.support.made_blocks import Tensors, given, vector
from tests.support.made_gguf import Floats
from tests.support.made_language import SEEN

SHARE = 1.2
"""The size of the layer's contribution, beside an embedding of size one."""

ROPE_BASE = 1e4

_PAIRS = 6
_SHARPNESS = 60.0


def look_back(
    memory: Floats, heads: int, kv_heads: int, head: int, rotated: int, scale: float
) -> Tensors:
    """Return tensors to replace those of an attention layer.

    Queries and keys are the same for all tokens; they differ only by the rotation for their
    position. The query is turned back by one position, so it meets the key before its own.

    Args:
        memory: The memory of the language.
        heads: The number of query heads.
        kv_heads: The number of key and value heads.
        head: The width of a head.
        rotated: The rotated part of a head.
        scale: The factor that llama.cpp applies to queries times keys.
    """
    width, count = memory.shape
    key = np.zeros(head, np.float32)
    query = key.copy()
    turn = ROPE_BASE ** (-2.0 * np.arange(_PAIRS) / rotated)
    key[:_PAIRS] = 1
    query[:_PAIRS] = np.cos(turn)
    query[rotated // 2 : rotated // 2 + _PAIRS] = -np.sin(turn)
    values = np.zeros((kv_heads * head, width), np.float32)
    values[:count, SEEN] = np.eye(count)
    output = np.zeros((width, heads * head), np.float32)
    output[:, :count] = memory * np.float32(SHARE)
    return {
        "attn_q": given(_always(np.tile(query, heads), width)),
        "attn_k": given(_always(np.tile(key, kv_heads), width)),
        "attn_v": given(values),
        "attn_q_norm": vector(head, _SHARPNESS / (head * scale)),
        "attn_k_norm": vector(head),
        "attn_output": given(output),
    }


def remembered(memory: Floats, rows: int, unit: float = 1.0) -> Floats:
    """Return a matrix that finds this layer's contribution in a hidden state, for a head."""
    values = np.zeros((rows, memory.shape[0]), np.float32)
    # A hidden state has size one after this contribution, too.
    whole = (1 + SHARE**2) ** 0.5
    values[:, SEEN] = memory[:rows] * np.float32(SHARE * whole / unit)
    return values


def _always(rows: Floats, width: int) -> Floats:
    """Return a matrix whose product is `rows`, up to its size, for every token."""
    values = np.zeros((len(rows), width), np.float32)
    values[:, 0] = rows
    return values
