"""Vectors of passages in few bytes, and the search for those that point where a question's does.

Of each vector there are signs, one bit a dimension, and codes, four bits a dimension. All signs of
a collection lie in memory while it is searched, the codes in its file: the vectors that differ from
the question's in the fewest signs are compared by their codes. `sqlite-vec` would do so in SQLite
itself, but many Pythons are built without loadable extensions; figures are in the guide on
measurements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CANDIDATES: Final = 400
"""Vectors that are compared by their codes, of all."""

_LEVELS: Final = 7
"""A code is a number from -7 to 7, of the largest that a vector has."""

_AT_ONCE: Final = 1 << 17


class NearVector(NamedTuple):
    """A vector near a question's: its row in the file, its place there, and its passage."""

    row: int
    place: int
    passage: int


def encoded(vectors: Sequence[Sequence[float]], dimensions: int) -> tuple[bytes, bytes]:
    """Return the signs and codes of vectors, cut to so many dimensions, a multiple of eight."""
    import numpy as np

    values = np.asarray(vectors, dtype=np.float32)[:, :dimensions]
    largest = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-12)
    levels = (np.rint(values * (_LEVELS / largest)) + _LEVELS).astype(np.uint8)
    codes = levels[:, ::2] << 4 | levels[:, 1::2]
    return np.packbits(values > 0, axis=1).tobytes(), codes.tobytes()


class SignTable:
    """The signs of a collection's vectors in memory, and where the codes of each are kept."""

    def __init__(self, rows: Iterable[tuple[int, int, bytes]], dimensions: int) -> None:
        """Begin with rows of signs: a row's number, the first of its passages, and the signs."""
        import numpy as np

        width = dimensions // 8
        parts: list[bytes] = []
        firsts, counts, numbers = [], [], []
        for row, first, signs in rows:
            parts.append(signs)
            numbers.append(row)
            firsts.append(first)
            counts.append(len(signs) // width)
        self.dimensions = dimensions
        self._rows, self._firsts = np.asarray(numbers, np.int64), np.asarray(firsts, np.int64)
        self._begins = np.cumsum([0, *counts])
        word = np.uint64 if width % 8 == 0 else np.uint8
        flat = np.frombuffer(b"".join(parts), dtype=np.uint8).reshape(-1, width)
        # A column a dimension of words: each is gone through in one piece of memory.
        self._signs = np.ascontiguousarray(flat.view(word).T)

    def spread(self, most: int) -> list[NearVector]:
        """Return some vectors from everywhere in the collection."""
        import numpy as np

        count = self._signs.shape[1]
        return self._at(np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.int64)))

    def near(self, vector: Sequence[float], most: int = CANDIDATES) -> list[NearVector]:
        """Return the vectors that differ from this one in the fewest signs, unordered."""
        import numpy as np

        asked = np.asarray(vector, dtype=np.float32)[: self.dimensions]
        mine = np.packbits(asked > 0).view(self._signs.dtype)
        differing = np.zeros(self._signs.shape[1], dtype=np.uint16)
        for start in range(0, len(differing), _AT_ONCE):
            part = differing[start : start + _AT_ONCE]
            for signs, own in zip(self._signs[:, start : start + _AT_ONCE], mine, strict=True):
                part += np.bitwise_count(signs ^ own)
        if len(differing) > most:
            best = np.argpartition(differing, most)[:most]
        else:
            best = np.arange(len(differing))
        return self._at(best)

    def _at(self, numbers: NDArray[np.int64]) -> list[NearVector]:
        at = self._begins.searchsorted(numbers, side="right") - 1
        inside = numbers - self._begins[at]
        found = zip(self._rows[at], inside, self._firsts[at] + inside, strict=True)
        return [NearVector(int(row), int(place), int(number)) for row, place, number in found]


def ranked(
    vector: Sequence[float], codes: Mapping[int, bytes], center: NDArray[np.float32] | None = None
) -> list[tuple[int, float]]:
    """Order passages by the cosine between their codes and a vector, the nearest first.

    center: the middle of the collection's vectors, as seen from which they are compared: what all
    its passages have in common tells none of them from the others.
    """
    import numpy as np

    if not codes:
        return []
    numbers, values = list(codes), _decoded(codes.values())
    asked = _of_length_one(np.asarray([vector], dtype=np.float32)[:, : values.shape[1]])
    if center is not None:
        values, asked = _of_length_one(values - center), _of_length_one(asked - center)
    cosines = values @ asked[0]
    order = np.argsort(-cosines, kind="stable")
    return [(numbers[at], float(cosines[at])) for at in order]


def middle(codes: Collection[bytes], dimensions: int) -> NDArray[np.float32]:
    """Return the middle of vectors that are given by their codes; of none it is zero."""
    import numpy as np

    if not codes:
        return np.zeros(dimensions, np.float32)
    center: NDArray[np.float32] = _decoded(codes).mean(axis=0)
    return center


def _decoded(codes: Collection[bytes]) -> NDArray[np.float32]:
    import numpy as np

    packed = np.frombuffer(b"".join(codes), dtype=np.uint8).reshape(len(codes), -1)
    values = np.empty((len(codes), 2 * packed.shape[1]), np.float32)
    values[:, ::2], values[:, 1::2] = packed >> 4, packed & 15
    return _of_length_one(values - _LEVELS)


def _of_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    found: NDArray[np.float32] = np.divide(vectors, lengths, dtype=np.float32)
    return found
