"""What stands for a picture or a sound among the tokens of a sequence: pure.

Each row of its embeddings takes a cell of the KV cache, as a token does. Where a sequence is
written down as tokens, a cell is a negative number made of the medium's hash: sequences with the
same picture have the same numbers there and those with another one have others, in memory and in a
file. So whoever compares sequences need not know of pictures.

A model may give a picture fewer positions than cells: one for each of its rows or columns,
whichever are more. The lowest bit of a number tells whether it stands on a position of its own.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import takewhile


def make_cells(identity: str, part: int, count: int, positions: int) -> list[int]:
    """Make the `count` cells of a part of a medium, on so many positions.

    identity: of the medium and of what encodes it.
    """
    from hashlib import shake_256

    drawn = array("I", shake_256(f"{identity} {part}".encode()).digest(4 * count))
    # The highest bit of 32 is the sign. 30 bits of a hash in each cell tell two media apart.
    return [~((bits >> 2) << 1 | (at < positions)) for at, bits in enumerate(drawn)]


def is_cell(token: int) -> bool:
    """Tell whether this is a part of a picture or a sound, and no token."""
    return token < 0


def without_position(tokens: Sequence[int]) -> int:
    """Count the cells among `tokens` that have no position of their own."""
    return sum(1 for token in tokens if token < 0 and token & 1)


def whole_length(tokens: Sequence[int], length: int) -> int:
    """Return the most of the first `length` tokens after which no picture is cut in two."""
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
