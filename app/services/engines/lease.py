"""A model that is ready for one who uses it: what an answer needs, and travels with it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from types import TracebackType
from typing import TYPE_CHECKING

from engines.errors import EngineError

if TYPE_CHECKING:
    from app.core.models.entry import ModelEntry
    from app.services.engines.loads import EngineLoader
    from app.services.engines.turns import Ticket
    from engines.cancel import CancelToken
    from engines.types import ChatRequest, Event, LoadedModel, Measured, MtpCheck


class Lease:
    """Nothing is loaded in its model's place, and nothing unloads it, until `close`.

    entry: the model. loaded: as its engine reported it. As a context manager it closes at the end.
    """

    def __init__(
        self,
        entry: ModelEntry,
        loaded: LoadedModel,
        loads: EngineLoader,
        turn: Ticket,
        closed: Callable[[], None],
    ) -> None:
        """closed: called once it is not used any more, before others get its place."""
        self.entry = entry
        self.loaded = loaded
        self._loads = loads
        self._turn = turn
        self._closed = closed

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def engine_name(self) -> str:
        return self._loads.engine.name

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        """As `Engine.chat`; after one that has failed, others look whether the model is there."""
        try:
            with closing(self._loads.engine.chat(request, cancel)) as events:
                yield from events
        except EngineError:
            if not self._loads.well():
                self._turn.doubt()
            raise

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        """What a request takes of the model's context. Raises EngineError, Cancelled."""
        return self._loads.engine.measure(request, cancel)

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        """As `Engine.check_mtp`; only where the model was asked for alone."""
        return self._loads.engine.check_mtp(request, depth, cancel)

    def close(self) -> None:
        self._closed()
        self._turn.leave()
