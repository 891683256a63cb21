"""The seam between Hearth and whatever runs a model."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.types import (
    ChatRequest,
    EngineStatus,
    Event,
    LoadedModel,
    LoadPlan,
    Measured,
    MtpCheck,
    Ranking,
    Vectors,
)

Progress = Callable[[float], None]
"""Called with the part done, 0.0 to 1.0, from the loading thread."""


class Engine(Protocol):
    """Loads one model at a time and answers with it.

    An engine is used by one thread at a time; only `CancelToken.cancel`, `measure` and `status`
    come from others, and as many `chat` as `LoadedModel.answers_at_once` says.

    Example::

        engine = LlamaCppEngine()
        engine.load(plan, print, CancelToken())
        for event in engine.chat(ChatRequest((Message("user", "Hello"),)), CancelToken()):
            if isinstance(event, TextDelta):
                print(event.text, end="")
        engine.close()
    """

    name: str

    def load(self, plan: LoadPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        """Load the plan's model in place of the present one.

        Raises EngineError (see `engines.errors`), or Cancelled; then nothing is loaded.
        """
        ...

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        """Answer the request: yield PromptReady, then deltas, then exactly one Done.

        An MtpReport comes between them when what it says has changed.

        A cancel ends the answer within 100 ms or one decode step, whichever is longer, with
        Done("cancelled"). Closing the generator early is a cancel without a Done.
        Raises EngineError; what was already yielded is valid and the engine stays usable.
        """
        ...

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        """Count what the request takes of the context; from any thread, also during an answer.

        Nothing is evaluated, and the KV cache stays as it is.
        Raises EngineError if nothing is loaded, or the chat template refuses the messages; and
        Cancelled where it was waiting.
        """
        ...

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        """Answer greedily without and with `depth` drafted tokens, and compare the tokens.

        Raises EngineError, MtpUnavailable if nothing can draft for the loaded model.
        """
        ...

    def tokenize(self, text: str, cancel: CancelToken, *, special: bool = True) -> tuple[int, ...]:
        """Return the text's tokens, from any thread, also during an answer.

        special: the markers of the model's vocabulary in it are their tokens, and what the model
        wants before a text is there. Raises EngineError, Unsupported where it cannot be asked for.
        """
        ...

    def detokenize(self, tokens: Sequence[int], cancel: CancelToken) -> str:
        """Return the tokens' text, from any thread, also during an answer.

        Raises EngineError, Unsupported where it cannot be asked for or a token is none of them.
        """
        ...

    def embed(self, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
        """Return the vectors of texts or of their tokens.

        Raises EngineError, Unsupported where the loaded model gives none, MessageTooLong; and
        Cancelled.
        """
        ...

    def rerank(self, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
        """Judge how well each document answers the query.

        Raises EngineError, Unsupported where the loaded model cannot, MessageTooLong; and
        Cancelled.
        """
        ...

    def status(self) -> EngineStatus:
        """Tell what the engine is doing; from any thread, at any time, and at once.

        Nothing is started, changed or waited for.
        """
        ...

    def cache_used(self) -> float | None:
        """Tell the share of the KV cache that is in use, 0 to 1; None where nobody can tell.

        From any thread, at any time; a worker or server may have to be asked.
        """
        ...

    def close(self) -> None:
        """Unload and give the memory back. The engine may load again afterwards."""
        ...


def nothing_loaded() -> EngineFailed:
    """Make the error for an engine that is asked before it has a model."""
    return EngineFailed(
        "There is nothing to answer with.", "No model is loaded.", "Choose a model."
    )
