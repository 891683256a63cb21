"""Vectors of passages in few bytes, and the search for those that point where a question's does.

Of each vector there are signs, one bit a dimension, and codes, one byte a dimension. All signs of a
collection lie in memory while it is searched, the codes in its file: the vectors that differ from
the question's in the fewest signs are compared by their codes. `sqlite-vec` would do so in SQLite
itself, but many Pythons are built without loadable extensions; figures are in the guide on
measurements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np

CANDIDATES: Final = 400
"""Vectors that are compared by their codes, of all."""

_AT_ONCE: Final = 1 << 17


def encoded(vectors: Sequence[Sequence[float]], dimensions: int) -> tuple[bytes, bytes]:
    """Return the signs and codes of vectors, cut to so many dimensions, a multiple of eight."""
    import numpy as np

    values = np.asarray(vectors, dtype=np.float32)[:, :dimensions]
    largest = np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-12)
    codes = np.rint(values * (127 / largest)).astype(np.int8)
    return np.packbits(values > 0, axis=1).tobytes(), codes.tobytes()


class SignTable:
    """The signs of a collection's vectors in memory, each under the number of its passage."""

    def __init__(self, rows: Iterable[tuple[int, bytes]], dimensions: int) -> None:
        """Begin with the signs of texts, each with the number of its first passage."""
        import numpy as np

        width = dimensions // 8
        parts, numbers = [], []
        for first, signs in rows:
            parts.append(signs)
            numbers.append(np.arange(first, first + len(signs) // width, dtype=np.int64))
        self.dimensions = dimensions
        self._numbers = np.concatenate(numbers) if numbers else np.zeros(0, np.int64)
        word = np.uint64 if width % 8 == 0 else np.uint8
        flat = np.frombuffer(b"".join(parts), dtype=np.uint8).reshape(-1, width)
        # A column a dimension of words: each is gone through in one piece of memory.
        self._signs = np.ascontiguousarray(flat.view(word).T)

    def __len__(self) -> int:
        return len(self._numbers)

    def near(self, vector: Sequence[float], most: int = CANDIDATES) -> list[int]:
        """Return the passages whose vectors differ from this one in the fewest signs, unordered."""
        import numpy as np

        asked = np.asarray(vector, dtype=np.float32)[: self.dimensions]
        mine = np.packbits(asked > 0).view(self._signs.dtype)
        differing = np.zeros(len(self._numbers), dtype=np.uint16)
        for start in range(0, len(differing), _AT_ONCE):
            part = differing[start : start + _AT_ONCE]
            for signs, own in zip(self._signs[:, start : start + _AT_ONCE], mine, strict=True):
                part += np.bitwise_count(signs ^ own)
        if len(differing) > most:
            best = np.argpartition(differing, most)[:most]
        else:
            best = np.arange(len(differing))
        return [int(number) for number in self._numbers[best]]


def ranked(vector: Sequence[float], codes: Mapping[int, bytes]) -> list[tuple[int, float]]:
    """Order passages by the cosine between their codes and a vector, the nearest first."""
    import numpy as np

    if not codes:
        return []
    numbers = list(codes)
    table = np.frombuffer(b"".join(codes.values()), dtype=np.int8).reshape(len(numbers), -1)
    values: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = table.astype(np.float32)
    asked = np.asarray(vector, dtype=np.float32)[: values.shape[1]]
    asked /= max(float(np.linalg.norm(asked)), 1e-12)
    lengths = np.maximum(np.linalg.norm(values, axis=1), 1e-12)
    cosines = (values @ asked) / lengths
    order = np.argsort(-cosines, kind="stable")
    return [(numbers[at], float(cosines[at])) for at in order]
