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

    def prepare(self, held: int, cancel: CancelToken) -> None:
        """Encode the media after the first `held` tokens, outside of any step of the loop.

        Returns at once after a cancel.

        Raises:
            MediumUnreadable: A picture or a sound cannot be read.
            EngineFailed: The encoder failed.
        """
        for one in self._placed:
            begun = self._begin(one, held)
            if begun is None:
                continue
            settled = threading.Event()
            begun.add_done_callback(lambda _, settled=settled: settled.set())  # type: ignore[misc]
            forget = cancel.on_cancel(settled.set)
            try:
                settled.wait()
            finally:
                forget()
            if cancel.cancelled:
                begun.cancel()
                return
            self._encoded += begun.result()

    def at(self, place: int) -> Encoded:
        """Return the embeddings that the cell at index `place` belongs to.

        They are encoded now if the KV cache held the cell and lost it in the middle of the answer.
        """
        found = self._found(place)
        if found is None:
            for one in self._placed:
                if (begun := self._begin(one, place)) is not None:
                    self._encoded += begun.result()
            found = self._found(place)
        if found is None:
            raise ValueError(f"there is no picture and no sound at place {place}")
        return found

    def _found(self, place: int) -> Encoded | None:
        return next((it for it in self._encoded if it.start <= place < it.start + it.count), None)

    def _begin(self, one: PlacedMedium, held: int) -> Future[list[Encoded]] | None:
        """Start to encode the parts of a medium after `held` tokens; None if there are none."""
        wanted: dict[int, tuple[int, int]] = {}
        for offset, part in self._projector.parts(one.medium):
            start = one.start + offset
            if start + part.count > held and self._found(start) is None:
                wanted[part.number] = start, start - without_position(self._tokens[:start])
        return self._projector.encode(one.medium, wanted) if wanted else None
