"""Compact vectors of passages, and the search for those similar to a question's.

A passage has two vectors, one for each half. Of each vector the signs are stored, one bit per
dimension, and the sizes, two bits per dimension. All signs of a collection are in memory while it
is searched; the sizes stay in its file. Passages with a vector that differs from the question's in
few signs are then compared by signs and sizes. `sqlite-vec` could do this in SQLite itself, but
many Pythons are built without loadable extensions. Figures are in the guide on measurements.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAKING: Final = 2
"""Increase it when vectors are made or stored differently; all are then made again."""

HALVES: Final = 2
"""The number of vectors per passage."""

CANDIDATES: Final = 400
"""Vectors whose passages are compared by signs and sizes."""

_SIZES: Final = (0.2451, 0.7560, 1.3439, 2.1520)
"""The values that sizes stand for, in multiples of the vector's root mean square.

With the signs these are the eight levels with the least error for normally distributed numbers
(Max, 1960).
"""

_AT_ONCE: Final = 1 << 17

Halves = Sequence[Sequence[float]]
"""The vectors of the two halves of a passage."""

Code = tuple[bytes, bytes]
"""The stored form of a passage's vectors: their signs and their sizes."""


class NearPassage(NamedTuple):
    """A passage near a question.

    Attributes:
        row: Its row in the file.
        place: Its position in that row.
        passage: Its number.
    """

    row: int
    place: int
    passage: int


def encoded(passages: Sequence[Halves], dimensions: int) -> Code:
    """Return the signs and sizes of vectors, cut to `dimensions`, a multiple of eight."""
    import numpy as np

    values = np.asarray(passages, dtype=np.float32)[:, :, :dimensions].reshape(-1, dimensions)
    scale = np.maximum(np.sqrt((values**2).mean(axis=1, keepdims=True)), 1e-12)
    between = np.add(_SIZES[1:], _SIZES[:-1]) / 2
    sizes = np.searchsorted(between, np.abs(values) / scale).astype(np.uint8)
    packed = sizes[:, ::4] << 6 | sizes[:, 1::4] << 4 | sizes[:, 2::4] << 2 | sizes[:, 3::4]
    return np.packbits(values > 0, axis=1).tobytes(), packed.tobytes()


class SignTable:
    """The signs of a collection's vectors in memory, and where their sizes are stored."""

    def __init__(self, rows: Iterable[tuple[int, int, bytes]], dimensions: int) -> None:
        """Build the table from rows of signs.

        Args:
            rows: The number of each row, the number of its first passage, and the signs.
        """
        import numpy as np

        width = dimensions // 8
        parts: list[bytes] = []
        firsts, counts, numbers = [], [], []
        for row, first, signs in rows:
            parts.append(signs)
            numbers.append(row)
            firsts.append(first)
            counts.append(len(signs) // width // HALVES)
        self.dimensions = dimensions
        self._rows, self._firsts = np.asarray(numbers, np.int64), np.asarray(firsts, np.int64)
        self._begins = np.cumsum([0, *counts])
        word = np.uint64 if width % 8 == 0 else np.uint8
        flat = np.frombuffer(b"".join(parts), dtype=np.uint8).reshape(-1, width)
        # Column-wise, so that each word of the signs is scanned in contiguous memory.
        self._signs = np.ascontiguousarray(flat.view(word).T)

    def spread(self, most: int) -> list[NearPassage]:
        """Return up to `most` passages, evenly spread over the collection."""
        import numpy as np

        count = self._signs.shape[1] // HALVES
        return self._at(np.unique(np.linspace(0, count - 1, min(most, count)).astype(np.int64)))

    def near(self, vector: Sequence[float], most: int = CANDIDATES) -> list[NearPassage]:
        """Return the passages of the vectors that differ from this one in the fewest signs."""
        import numpy as np

        question = np.asarray(vector, dtype=np.float32)[: self.dimensions]
        question_signs = np.packbits(question > 0).view(self._signs.dtype)
        differing = np.zeros(self._signs.shape[1], dtype=np.uint16)
        for start in range(0, len(differing), _AT_ONCE):
            part = differing[start : start + _AT_ONCE]
            for signs, own in zip(
                self._signs[:, start : start + _AT_ONCE], question_signs, strict=True
            ):
                part += np.bitwise_count(signs ^ own)
        if len(differing) > most:
            best = np.argpartition(differing, most)[:most]
        else:
            best = np.arange(len(differing))
        return self._at(np.unique(best // HALVES))

    def _at(self, numbers: NDArray[np.int64]) -> list[NearPassage]:
        at = self._begins.searchsorted(numbers, side="right") - 1
        inside = numbers - self._begins[at]
        found = zip(self._rows[at], inside, self._firsts[at] + inside, strict=True)
        return [NearPassage(int(row), int(place), int(number)) for row, place, number in found]


def ranked(
    vector: Sequence[float], codes: Mapping[int, Code], center: NDArray[np.float32] | None = None
) -> list[tuple[int, float]]:
    """Rank passages by the similarity of their vectors to another one, nearest first.

    Args:
        center: The mean of the collection's vectors, subtracted first: what all its passages have
            in common does not distinguish them.

    Returns:
        The numbers of the passages and their similarities.
    """
    import numpy as np

    if not codes:
        return []
    numbers, values = list(codes), _decoded(codes.values())
    question = _of_length_one(np.asarray([vector], dtype=np.float32)[:, : values.shape[1]])
    if center is not None:
        values, question = _of_length_one(values - center), _of_length_one(question - center)
    nearness = nearness_of_passages(values @ question[0])
    order = np.argsort(-nearness, kind="stable")
    return [(numbers[at], float(nearness[at])) for at in order]


def nearness_of_passages(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the similarity of passages from the cosines of their halves.

    It is the mean of the better half and the average of both.
    """
    of_halves = cosines.reshape(-1, HALVES)
    found: NDArray[np.float32] = (of_halves.max(axis=1) + of_halves.mean(axis=1)) / 2
    return found


def middle(codes: Collection[Code], dimensions: int) -> NDArray[np.float32]:
    """Return the mean of vectors that are given by their codes; zero if there are none."""
    import numpy as np

    if not codes:
        return np.zeros(dimensions, np.float32)
    center: NDArray[np.float32] = _decoded(codes).mean(axis=0)
    return center


def _decoded(codes: Collection[Code]) -> NDArray[np.float32]:
    """Return the vectors of passages; the two of a passage follow each other."""
    import numpy as np

    count = HALVES * len(codes)
    signs = np.frombuffer(b"".join(code for code, _ in codes), np.uint8).reshape(count, -1)
    packed = np.frombuffer(b"".join(code for _, code in codes), np.uint8)
    sizes = np.stack([packed >> 6, packed >> 4 & 3, packed >> 2 & 3, packed & 3], axis=-1)
    values = np.array(_SIZES, np.float32)[sizes.reshape(count, -1)]
    return _of_length_one(np.where(np.unpackbits(signs, axis=1), values, -values))


def _of_length_one(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    found: NDArray[np.float32] = np.divide(vectors, lengths, dtype=np.float32)
    return found
