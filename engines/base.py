"""The protocol between Hearth and the programs that run models."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeVar

from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.sentences import N_
from engines.types import (
    ChatRequest,
    EngineStatus,
    Event,
    LoadedModel,
    Measured,
    MtpCheck,
    Ranking,
    Vectors,
)

Progress = Callable[[float], None]
"""A callback that the loading thread calls with the fraction done, 0.0 to 1.0."""


Plan_contra = TypeVar("Plan_contra", contravariant=True)
"""The plan of a load: `LlamaPlan`, `VllmPlan` or `ServedPlan` of `engines.types`."""


class Engine(Protocol):
    """An engine: it has one model at a time, and answers with it; see `LoadingEngine`.

    Only one thread at a time may use an engine. The exceptions are `CancelToken.cancel`, the
    methods that say so, and as many concurrent calls of `chat` as `LoadedModel.answers_at_once`
    says.

    Example::

        engine = LlamaCppEngine()
        engine.load(plan, print, CancelToken())
        for event in engine.chat(ChatRequest((Message("user", "Hello"),)), CancelToken()):
            if isinstance(event, TextDelta):
                print(event.text, end="")
        engine.close()
    """

    name: str

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        """Answer the request.

        A cancel ends the answer within 100 ms or one decode step, whichever is longer, with
        Done("cancelled"). Closing the generator early cancels it too, but without a Done.

        Yields:
            PromptReady, then deltas, then exactly one Done. An engine that knows how far it has
            read a long prompt yields a PromptProgress after each part of it, before the first
            delta. An MtpReport comes between the deltas whenever its content has changed.

        Raises:
            EngineError: Events already yielded stay valid, and the engine stays usable.
        """
        ...

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        """Count the context tokens that the request takes.

        Any thread may call this, also during an answer. Nothing is evaluated, and the KV cache is
        not changed.

        Raises:
            EngineError: Nothing is loaded, or the chat template refuses the messages.
            Cancelled: It was cancelled while waiting.
        """
        ...

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        """Answer greedily without and with `depth` drafted tokens, and compare the tokens.

        Raises:
            MtpUnavailable: Nothing can draft for the loaded model.
            EngineError: The request cannot be answered.
        """
        ...

    def tokenize(self, text: str, cancel: CancelToken, *, special: bool = True) -> tuple[int, ...]:
        """Return the text's tokens.

        Any thread may call this, also during an answer.

        Args:
            special: Turn markers of the model's vocabulary in the text into their tokens, and add
                the tokens that the model wants before a text.

        Raises:
            Unsupported: The engine cannot tokenize for its callers.
            EngineError: Tokenizing failed.
        """
        ...

    def detokenize(self, tokens: Sequence[int], cancel: CancelToken) -> str:
        """Return the tokens' text.

        Any thread may call this, also during an answer.

        Raises:
            Unsupported: The engine cannot do it, or a number is not a token of the vocabulary.
            EngineError: Detokenizing failed.
        """
        ...

    def embed(self, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
        """Return the embedding vectors of texts, each given as text or as tokens.

        Raises:
            Unsupported: The loaded model produces no vectors.
            MessageTooLong: A text does not fit the context.
            EngineError: The engine failed.
            Cancelled: It was cancelled.
        """
        ...

    def rerank(self, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
        """Score how well each document answers the query.

        Raises:
            Unsupported: The loaded model cannot rank texts.
            MessageTooLong: A text does not fit the context.
            EngineError: The engine failed.
            Cancelled: It was cancelled.
        """
        ...

    def status(self) -> EngineStatus:
        """Return the engine's present state, at once.

        Any thread may call this at any time. It starts, changes and waits for nothing.
        """
        ...

    def cache_used(self) -> float | None:
        """Return the share of the KV cache in use, 0 to 1; None if unknown.

        Any thread may call this at any time. It may have to ask a worker or a server.
        """
        ...

    def close(self) -> None:
        """Unload the model and free its memory. The engine can load again afterwards."""
        ...


class LoadingEngine(Engine, Protocol[Plan_contra]):
    """An engine with the method that loads a model, by a plan of its own kind."""

    def load(self, plan: Plan_contra, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Load the plan's model in place of the present one.

        Raises:
            EngineError: The model cannot be loaded (see `engines.errors`); nothing is loaded then.
            Cancelled: The load was cancelled; nothing is loaded then.
        """
        ...


def nothing_loaded() -> EngineFailed:
    """Make the error for a request to an engine that has no model loaded."""
    return EngineFailed(
        N_("There is nothing to answer with."), N_("No model is loaded."), N_("Choose a model.")
    )
