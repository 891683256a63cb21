"""The pictures and sounds of one prompt: where they lie in it, and their embeddings."""

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
    """A medium whose tokens begin at place `start` of a prompt."""

    medium: Medium
    start: int


class PromptMedia:
    """Encodes the media of a prompt, each once, as far as the KV cache does not hold it."""

    def __init__(
        self, projector: Projector, tokens: Sequence[int], placed: Sequence[PlacedMedium]
    ) -> None:
        self._projector = projector
        self._tokens = tokens
        self._placed = placed
        self._encoded: list[Encoded] = []

    def prepare(self, held: int, cancel: CancelToken) -> None:
        """Encode what lies behind the first `held` tokens, outside of any step of the loop.

        Raises MediumUnreadable, EngineFailed. Returns at once after a cancel.
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
        """Return what the cell at a place belongs to.

        It is encoded now where the KV cache did hold it, and lost it in the middle of the answer.
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
        """Begin to encode what a medium has behind `held` tokens, None if it has nothing there."""
        wanted: dict[int, tuple[int, int]] = {}
        for offset, part in self._projector.parts(one.medium):
            start = one.start + offset
            if start + part.count > held and self._found(start) is None:
                wanted[part.number] = start, start - without_position(self._tokens[:start])
        return self._projector.encode(one.medium, wanted) if wanted else None
