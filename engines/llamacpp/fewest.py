"""A lower bound for the number of tokens in a text, from its bytes, without tokenising.

A token stands for a piece of text, and the pieces of all tokens joined are the text. So anything
that can be counted in pieces, such as beginnings of words or digits, bounds the number of tokens: a
text has at least its own count divided by the largest count of any piece.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from typing import Final

_BLANKS: Final = string.whitespace.encode()
_BEYOND: Final = bytes(range(0x80, 0x100))
_KINDS: Final = (
    string.ascii_letters.encode(),
    string.digits.encode(),
    bytes(range(0x80)).translate(None, string.printable[:62].encode() + _BLANKS),
    _BEYOND,
)
"""Letters, digits, all other ASCII characters except blanks, and bytes beyond ASCII."""
_COMPLEMENTS: Final = tuple(bytes(range(0x100)).translate(None, kind) for kind in _KINDS)
_SHAPE: Final = bytes(0x20 if byte in _BLANKS else 0x78 for byte in range(0x100))
_NEEDED: Final = frozenset(range(0x100)) - {0xC0, 0xC1, *range(0xF5, 0x100)}
"""The bytes that UTF-8 consists of."""


class FewestTokens:
    """A lower bound for the tokens of a text.

    If single bytes are missing among the pieces, the vocabulary might omit parts of a text, and
    there is no bound. Blanks do not count: some tokens swallow the blanks beside them.

    Args:
        pieces: The pieces of all tokens of a vocabulary.
    """

    def __init__(self, pieces: Iterable[bytes]) -> None:
        most = [0] * (1 + len(_KINDS))
        single = set()
        for piece in pieces:
            most = [max(pair) for pair in zip(most, _counts(piece), strict=True)]
            if len(piece) == 1:
                single.add(piece[0])
        self._most = most if single >= _NEEDED else []

    def of(self, data: bytes) -> int:
        """Return a number of tokens that `data` has at least."""
        if not self._most:
            return 0
        counts = zip(_counts(data), self._most, strict=True)
        return max(-(-count // max(1, most)) for count, most in counts)


def _counts(data: bytes) -> tuple[int, ...]:
    """Return the number of words that begin in a text, and its number of bytes of each kind."""
    words = (b" " + data.translate(_SHAPE)).count(b" x")
    return (words, *(len(data.translate(None, complement)) for complement in _COMPLEMENTS))
