"""A lease: an answer's hold on a loaded model."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from engines.errors import EngineError
from engines.repetition import ending_loops

if TYPE_CHECKING:
    from app.models.library.values.entry import ModelEntry
    from app.runtime.services.loaders import EngineLoader
    from app.runtime.services.queue import Ticket
    from app.runtime.services.request_log import Admission, RequestLog
    from engines.base import LoadingEngine
    from engines.cancel import CancelToken
    from engines.types import ChatRequest, Event, LoadedModel, Measured, MtpCheck, Ranking, Vectors


class Lease:
    """A hold on a model: nothing unloads or replaces the model until `close`.

    As a context manager it closes at the end. If it ends with an EngineError and the engine looks
    broken, the next user checks that the model is still loaded.

    Attributes:
        entry: The model.
        loaded: The model as its engine reported it.
    """

    def __init__(
        self,
        entry: ModelEntry,
        loaded: LoadedModel,
        loads: EngineLoader[LoadingEngine[Any]],
        turn: Ticket,
        closed: Callable[[], None],
        requests: RequestLog,
        admission: Admission,
    ) -> None:
        """Begin the lease.

        Args:
            loads: The engine's loader.
            turn: The turn in the queue, left when the lease closes.
            closed: Called when the model is no longer used, before others take over.
            requests: Records the answers.
            admission: The wait that these answers are recorded with.
        """
        self.entry = entry
        self.loaded = loaded
        self._loads = loads
        self._turn = turn
        self._closed = closed
        self._requests = requests
        self._admission = admission

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, EngineError) and not self._loads.well():
            self._turn.doubt()
        self.close()

    @property
    def engine_name(self) -> str:
        """The name of the engine that runs the model."""
        return self._loads.engine.name

    def chat(
        self, request: ChatRequest, cancel: CancelToken, *, stop_repetition: bool = True
    ) -> Generator[Event, None, None]:
        """Answer as `Engine.chat` does. To stop early, close the answer before the lease.

        Args:
            stop_repetition: End an answer that repeats itself in circles.
        """
        chat = self._loads.engine.chat
        if stop_repetition:
            chat = partial(ending_loops, chat)
        return self._requests.answered(chat(request, cancel), request, self._admission)

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        """Measure a request's context. Raises EngineError and Cancelled."""
        return self._loads.engine.measure(request, cancel)

    def tokenize(self, text: str, cancel: CancelToken, *, special: bool = True) -> tuple[int, ...]:
        """Return a text's tokens, as `Engine.tokenize` does."""
        return self._loads.engine.tokenize(text, cancel, special=special)

    def detokenize(self, tokens: Sequence[int], cancel: CancelToken) -> str:
        """Return the tokens' text, as `Engine.detokenize` does."""
        return self._loads.engine.detokenize(tokens, cancel)

    def embed(self, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
        """Return the vectors of texts, as `Engine.embed` does."""
        work = partial(self._loads.engine.embed, texts, cancel)
        return self._requests.run_lookup("embeddings", work, self._admission)

    def rerank(self, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
        """Score documents, as `Engine.rerank` does."""
        work = partial(self._loads.engine.rerank, query, documents, cancel)
        return self._requests.run_lookup("rerank", work, self._admission)

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        """Compare answers, as `Engine.check_mtp` does; only for a lease that is alone."""
        return self._loads.engine.check_mtp(request, depth, cancel)

    def close(self) -> None:
        """End the lease, so that others can use or unload the model."""
        self._closed()
        self._turn.leave()
