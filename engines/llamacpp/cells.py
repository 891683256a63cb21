"""Cells: the numbers that stand for a picture or a sound among a sequence's tokens. Pure.

Each row of a medium's embeddings takes one cell of the KV cache, as a token does. Where a sequence
is recorded as tokens, a cell is a negative number derived from the medium's hash. Sequences with
the same picture have the same numbers there, and sequences with different pictures have different
ones, in memory and in a file. So code that compares sequences need not know about pictures.

A model can give a picture fewer positions than cells: one for each row or column, whichever are
more. The lowest bit of a cell's number is 0 if the cell has its own position, and 1 if not.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import takewhile


def make_cells(identity: str, part: int, count: int, positions: int) -> list[int]:
    """Return the `count` cells of one part of a medium.

    Args:
        identity: Identifies the medium and its encoder.
        part: The number of the part within the medium.
        count: Number of cells.
        positions: Number of positions that the cells take.
    """
    from hashlib import shake_256

    drawn = array("I", shake_256(f"{identity} {part}".encode()).digest(4 * count))
    # Of 32 bits, the highest is the sign. 30 bits of a hash in each cell distinguish two media.
    return [~((bits >> 2) << 1 | (at < positions)) for at, bits in enumerate(drawn)]


def is_cell(token: int) -> bool:
    """Return whether this is part of a picture or a sound rather than a token."""
    return token < 0


def without_position(tokens: Sequence[int]) -> int:
    """Return how many of the cells in `tokens` have no position of their own."""
    return sum(1 for token in tokens if token < 0 and token & 1)


def whole_length(tokens: Sequence[int], length: int) -> int:
    """Return the greatest length up to `length` at which no picture is split."""
    if 0 < length < len(tokens) and tokens[length] < 0:
        while length and tokens[length - 1] < 0:
            length -= 1
    return length


def text_before(tokens: Sequence[int]) -> list[int]:
    """Return the tokens before the first cell."""
    return list(takewhile(lambda token: token >= 0, tokens))


def only_text(tokens: Sequence[int]) -> list[int]:
    """Return the tokens without the cells among them."""
    return [token for token in tokens if token >= 0]
