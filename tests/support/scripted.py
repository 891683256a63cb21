"""An engine that says what a test tells it, for tests that need no model."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from typing import Any

from engines import conversation
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.types import (
    ChatRequest,
    Done,
    EngineStatus,
    Event,
    FinishReason,
    LoadedModel,
    LoadPlan,
    Measured,
    MtpCheck,
    MtpReport,
    PromptEcho,
    PromptProgress,
    PromptReady,
    Ranking,
    ReasoningDelta,
    TextDelta,
    Timing,
    ToolCall,
    ToolCallDelta,
    Usage,
    Vectors,
    WasReasoning,
)

NO_DRAFTS = "A scripted engine drafts nothing."
MTP_LINE = "A scripted drafter could guess ahead."


Piece = str | PromptProgress | ReasoningDelta | WasReasoning | TextDelta | ToolCallDelta | ToolCall


class ScriptedEngine:
    """An engine that yields `pieces`, then raises `error` if there is one.

    In `measure` a token is a word, and a message takes 4 more.

    Attributes:
        hold: An event to wait for, unless cancelled, before each piece after the first and before
            each check, vector and ranking; None to wait for nothing.
        reports: MTP's reports, one after each piece as long as there are any; the last of them
            comes at the end. None come while MTP is off.
        checks: The findings of `check_mtp`, in turn; the last one is repeated.
        says: More values of the `LoadedModel`, by name.
        notes: The notes at the end of its answers.
        stop: The stop string that ends its answers.
        finish: The reason why they end; a tool call among the pieces ends one with "tool".
        guesses: True if its figures are guesses, because it does not count its tokens.
        context: The tokens of its context, instead of the plan's.
    """

    name = "scripted"

    def __init__(
        self,
        pieces: Sequence[Piece] = ("Hello", " there"),
        error: Exception | None = None,
        hold: threading.Event | None = None,
        reports: Sequence[MtpReport] = (),
        checks: Sequence[MtpCheck | Exception] = (MtpCheck(True, 64, 2, 40),),
    ) -> None:
        self.pieces = pieces
        self.error = error
        self.hold = hold
        self.reports = reports
        self.checks = checks
        self.plans: list[LoadPlan] = []
        self.requests: list[ChatRequest] = []
        self.checked: list[tuple[ChatRequest, int]] = []
        self.closed = 0
        self.context: int | None = None
        self.says: dict[str, Any] = {}
        self.notes: tuple[str, ...] = ()
        self.finish: FinishReason = "stop"
        self.stop = ""
        self.guesses = False
        self._loaded: LoadedModel | None = None

    def load(self, plan: LoadPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        self.plans.append(plan)
        progress(0.5)
        progress(1.0)
        self._loaded = LoadedModel(
            name="Scripted",
            architecture="none",
            parameters=1,
            size_bytes=1,
            context=self.context or plan.context,
            context_trained=plan.context,
            device="CPU",
            load_s=0.0,
            mtp="drafter",
            mtp_line=MTP_LINE,
            **self.says,
        )
        return self._loaded

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        hold = self.hold  # a test may let later answers go, but not this one
        self.requests.append(request)
        yield PromptReady(prompt_tokens=5, cached_tokens=2)
        if request.echo:
            yield PromptEcho(str(request.prompt))
        finish = self.finish
        report = MtpReport(request.mtp, active=False, reason=NO_DRAFTS)
        reports = iter(self.reports if request.mtp != "off" else ())
        for number, piece in enumerate(self.pieces):
            if number:
                _wait(hold, cancel)
            if cancel.cancelled:
                finish = "cancelled"
                break
            yield TextDelta(piece) if isinstance(piece, str) else piece
            finish = "tool" if isinstance(piece, ToolCall) else finish
            if (said := next(reports, None)) is not None:
                report = said
                yield said
        if self.error is not None:
            raise self.error
        yield Done(
            finish_reason=finish,
            usage=Usage(5, 2, len(self.pieces), 4096, guessed=self.guesses),
            timing=Timing(0.0, 0.01, 500.0, 0.0 if self.guesses else 100.0),
            mtp=report,
            seed=7,
            notes=self.notes,
            stop=self.stop,
        )

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        if self._loaded is None:
            raise EngineFailed("Nothing.", "No model is loaded.", "Load one.")
        context = self._loaded.context
        kept = conversation.answer_room(context, request.max_tokens)
        lengths = [len(message.text.split()) + 4 for message in request.messages]
        left: tuple[int, ...] = ()
        if sum(lengths) > context - kept:
            left = conversation.cuts(request.messages, lengths, context - kept, context)[0]
        prompt = sum(length for at, length in enumerate(lengths) if at not in left)
        return Measured(tuple(lengths), sum(lengths), kept, context, left, prompt)

    def tokenize(self, text: str, cancel: CancelToken, *, special: bool = True) -> tuple[int, ...]:
        """Tokenise into words; the number of a token is the length of its word."""
        return tuple(len(word) for word in text.split())

    def detokenize(self, tokens: Sequence[int], cancel: CancelToken) -> str:
        return " ".join("x" * min(token, 99) for token in tokens)

    def embed(self, texts: Sequence[str | Sequence[int]], cancel: CancelToken) -> Vectors:
        _wait(self.hold, cancel)
        return Vectors(tuple((1.0, 0.0) for _ in texts), len(texts))

    def rerank(self, query: str, documents: Sequence[str], cancel: CancelToken) -> Ranking:
        """Score documents by their length."""
        _wait(self.hold, cancel)
        return Ranking(tuple(float(len(it)) for it in documents), len(documents))

    def check_mtp(self, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
        self.checked.append((request, depth))
        _wait(self.hold, cancel)
        found = self.checks[min(len(self.checked), len(self.checks)) - 1]
        if isinstance(found, Exception):
            raise found
        return found

    def status(self) -> EngineStatus:
        return EngineStatus("ready" if self._loaded is not None else "stopped")

    def cache_used(self) -> float | None:
        return 0.25 if self._loaded is not None else None

    def close(self) -> None:
        self.closed += 1
        self._loaded = None


def _wait(hold: threading.Event | None, cancel: CancelToken) -> None:
    if hold is not None:
        while not hold.wait(0.01) and not cancel.cancelled:
            pass
