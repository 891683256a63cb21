"""Says how few tokens a text can have, from counts of its bytes, without tokenising it.

A token stands for a piece of text, and the pieces of all tokens joined are the text. So whatever
can be counted in pieces, such as the words that begin in them or their digits, bounds the tokens:
no text has fewer than its own count divided by the greatest of any piece.
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
"""Letters, digits and all other characters of ASCII but blanks, and bytes of further ones."""
_OTHERS: Final = tuple(bytes(range(0x100)).translate(None, kind) for kind in _KINDS)
_SHAPE: Final = bytes(0x20 if byte in _BLANKS else 0x78 for byte in range(0x100))
_NEEDED: Final = frozenset(range(0x100)) - {0xC0, 0xC1, *range(0xF5, 0x100)}
"""The bytes of which UTF-8 consists."""


class FewestTokens:
    """Bounds the tokens of a text. pieces: of all tokens of a vocabulary that spells any text.

    Where not all bytes are among them, the vocabulary may leave something out, and no text has a
    bound. Blanks bound nothing: some tokens swallow those beside them.
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
        """Return a number of tokens that no tokenising of `data` stays below."""
        if not self._most:
            return 0
        counts = zip(_counts(data), self._most, strict=True)
        return max(-(-count // max(1, most)) for count, most in counts)


def _counts(data: bytes) -> tuple[int, ...]:
    """Count the words that begin in a text, and its bytes of each kind."""
    words = (b" " + data.translate(_SHAPE)).count(b" x")
    return (words, *(len(data.translate(None, others)) for others in _OTHERS))
