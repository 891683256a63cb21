"""An engine that says what a test tells it to, for what does not depend on a model."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence

from engines.base import Progress
from engines.cancel import CancelToken
from engines.types import (
    ChatRequest,
    Done,
    Event,
    FinishReason,
    LoadedModel,
    LoadPlan,
    MtpReport,
    PromptReady,
    TextDelta,
    Timing,
    Usage,
)


class ScriptedEngine:
    """Yields `pieces`, then raises `error` if there is one.

    hold: when given, the engine waits for it (or a cancel) before each piece after the first.
    """

    name = "scripted"

    def __init__(
        self,
        pieces: Sequence[str] = ("Hello", " there"),
        error: Exception | None = None,
        hold: threading.Event | None = None,
    ) -> None:
        self.pieces = pieces
        self.error = error
        self.hold = hold
        self.plans: list[LoadPlan] = []
        self.requests: list[ChatRequest] = []
        self.closed = 0

    def load(self, plan: LoadPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        self.plans.append(plan)
        progress(0.5)
        progress(1.0)
        return LoadedModel("Scripted", "none", 1, 1, plan.context, plan.context, "CPU", 0.0)

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        self.requests.append(request)
        yield PromptReady(prompt_tokens=5, cached_tokens=2)
        finish: FinishReason = "stop"
        for number, piece in enumerate(self.pieces):
            if number and self.hold is not None:
                while not self.hold.wait(0.01) and not cancel.cancelled:
                    pass
            if cancel.cancelled:
                finish = "cancelled"
                break
            yield TextDelta(piece)
        if self.error is not None:
            raise self.error
        yield Done(
            finish_reason=finish,
            usage=Usage(5, 2, len(self.pieces), 4096),
            timing=Timing(0.0, 0.01, 500.0, 100.0),
            mtp=MtpReport(request.mtp, active=False, reason="A scripted engine drafts nothing."),
            seed=7,
        )

    def close(self) -> None:
        self.closed += 1
