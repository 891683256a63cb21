"""The pictures and sounds of one prompt: their places in it, and their embeddings."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from engines.cancel import CancelToken
from engines.llamacpp.cells import without_position
from engines.llamacpp.projector import Encoded, Projector
from engines.types import Medium


@dataclass(frozen=True)
class PlacedMedium:
    """A medium whose tokens begin at index `start` of a prompt."""

    medium: Medium
    start: int


class PromptMedia:
    """Encodes the media of a prompt, each once, as far as the KV cache does not hold them."""

    def __init__(
        self, projector: Projector, tokens: Sequence[int], placed: Sequence[PlacedMedium]
    ) -> None:
        self._projector = projector
        self._tokens = tokens
        self._placed = placed
        self._encoded: list[Encoded] = []

    def prepare(self, cached: int, cancel: CancelToken) -> None:
        """Encode the media after the first `cached` tokens, outside of any step of the loop.

        Returns at once after a cancel.

        Raises:
            MediumUnreadable: A picture or a sound cannot be read.
            EngineFailed: The encoder failed.
        """
        for placed in self._placed:
            begun = self._begin(placed, cached)
            if begun is None:
                continue
            settled = threading.Event()
            begun.add_done_callback(lambda _, settled=settled: settled.set())  # type: ignore[misc]
            unregister = cancel.on_cancel(settled.set)
            try:
                settled.wait()
            finally:
                unregister()
            if cancel.cancelled:
                begun.cancel()
                return
            self._encoded += begun.result()

    def at(self, place: int) -> Encoded:
        """Return the embeddings that the cell at index `place` belongs to.

        They are encoded now if the KV cache held the cell and lost it in the middle of the answer.
        """
        found = self._encoded_at(place)
        if found is None:
            for placed in self._placed:
                if (begun := self._begin(placed, place)) is not None:
                    self._encoded += begun.result()
            found = self._encoded_at(place)
        if found is None:
            raise ValueError(f"there is no picture and no sound at place {place}")
        return found

    def _encoded_at(self, place: int) -> Encoded | None:
        return next(
            (
                encoded
                for encoded in self._encoded
                if encoded.start <= place < encoded.start + encoded.count
            ),
            None,
        )

    def _begin(self, placed: PlacedMedium, cached: int) -> Future[list[Encoded]] | None:
        """Start to encode the parts of a medium after `cached` tokens; None if there are none."""
        places: dict[int, tuple[int, int]] = {}
        for offset, part in self._projector.parts(placed.medium):
            start = placed.start + offset
            if start + part.count > cached and self._encoded_at(start) is None:
                places[part.number] = start, start - without_position(self._tokens[:start])
        return self._projector.encode(placed.medium, places) if places else None
