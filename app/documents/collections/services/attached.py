"""Ranks the passages of attached files by meaning, within the time for one question."""

from __future__ import annotations

import logging
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from app.documents.collections.store.vectors import nearness_of_passages
from app.documents.values.documents import AttachedFile, Passage
from engines.errors import EngineError

if TYPE_CHECKING:
    from app.documents.collections.services.embedding import Embedding
    from engines.cancel import CancelToken

_log = logging.getLogger(__name__)

_SECONDS: Final = 3.0
"""Maximum seconds of making vectors for one question.

A graphics card can embed a whole book in that time, a processor only the likeliest passages; the
next question continues with others.
"""

_AT_ONCE: Final = 16
_MOST: Final = 10_000
"""Maximum number of passages whose vectors are kept in memory, about 20 MB; never on disk."""

_TOP: Final = 30

_Key = tuple[str, str, int, int]
"""A model's key, and a passage: the SHA-256 of its file, the number of its place, and its start."""


class AttachedVectors:
    """The vectors of attached files' passages, kept in memory. Safe from any thread."""

    def __init__(self, embedding: Embedding, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedding = embedding
        self._clock = clock
        self._vectors: OrderedDict[_Key, array[float]] = OrderedDict()

    def order(
        self,
        question: str,
        passages: Sequence[tuple[AttachedFile, Passage]],
        likely: Sequence[int],
        cancel: CancelToken,
    ) -> list[int]:
        """Rank passages by meaning.

        Args:
            likely: The numbers of the passages whose vectors are made first.

        Returns:
            The numbers of the passages, best first; empty without an embedding model.

        Raises:
            Cancelled: `cancel` was called.
        """
        model = self._embedding.model()
        if model is None or not question.strip():
            return []
        keys = [
            (model.key, file.document.sha256, passage.span.place.number, passage.span.start)
            for file, passage in passages
        ]
        first = dict.fromkeys((*likely, *range(len(passages))))
        missing = [number for number in first if keys[number] not in self._vectors]
        try:
            question_vector = self._embedding.question(model, question, cancel)
            until = self._clock() + _SECONDS  # counted once the model is loaded
            for start in range(0, len(missing), _AT_ONCE):
                if self._clock() > until:
                    break
                part = missing[start : start + _AT_ONCE]
                texts = [passages[number][1].text for number in part]
                vectors = self._embedding.passages(model, texts, cancel)
                for number, halves in zip(part, vectors, strict=True):
                    values = chain.from_iterable(vector[: model.dimensions] for vector in halves)
                    self._vectors[keys[number]] = array("f", values)
        except EngineError as error:
            _log.warning("passages of files were not turned into vectors: %s", error)
            return []  # the ranking by words alone decides
        found = [
            (number, self._vectors[key]) for number, key in enumerate(keys) if key in self._vectors
        ]
        while len(self._vectors) > _MOST:
            self._vectors.popitem(last=False)
        return _nearest(question_vector[: model.dimensions], found)


def _nearest(question: Sequence[float], found: Sequence[tuple[int, array[float]]]) -> list[int]:
    """Rank passages by the similarity of their vectors to another one, after centring them."""
    import numpy as np

    if not found:
        return []
    table = np.array([vectors for _, vectors in found], np.float32).reshape(-1, len(question))
    center = table.mean(axis=0)
    table -= center
    lengths = np.maximum(np.linalg.norm(table, axis=1), 1e-12)
    cosines = (table @ (np.asarray(question, np.float32) - center)) / lengths
    order = np.argsort(-nearness_of_passages(cosines), kind="stable")
    return [found[int(at)][0] for at in order[:_TOP]]
