"""Models with their drafters, and answers with and without drafts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import ChatRequest, Event, TextDelta
from tests.engines.contract import ask
from tests.engines.llamacpp.random_models import STARTER

STARTER_DRAFTER = STARTER.with_name("starter-mtp.gguf")
QUESTION = ask("Where does Hearth keep my chats?", max_tokens=96)


@dataclass(frozen=True)
class Pair:
    model: Path
    drafter: Path | None = None


def drafting(request: ChatRequest, depth: int = 4) -> ChatRequest:
    return replace(request, mtp="on", depth=depth)


def plain(request: ChatRequest) -> ChatRequest:
    return replace(request, mtp="off")


def held(engine: LlamaCppEngine) -> tuple[list[int], int, int]:
    """Return the tokens that the cache lists, and the first and last position in llama.cpp."""
    loaded = engine.chat_model
    api, memory = loaded.native.api, loaded.context.memory
    first = int(api.llama_memory_seq_pos_min(memory, 0))
    return list(loaded.slots[0].cache.tokens), first, int(api.llama_memory_seq_pos_max(memory, 0))


def assert_as_without(engine: LlamaCppEngine, expected: tuple[list[int], int, int]) -> None:
    """Check that the cache is as it was `held` after an answer without drafts.

    A memory that goes back as a whole may have gone back to before the last step.
    """
    context, now = engine.chat_model.context, held(engine)
    if not context.marks:
        assert now == expected
        return
    tokens, _, last = now
    assert last == len(tokens) - 1
    assert tokens == expected[0][: len(tokens)]
    assert len(expected[0]) - len(tokens) <= 1 + context.drafts


def stopped(engine: LlamaCppEngine, request: ChatRequest, pieces: int) -> list[Event]:
    """Return the events of an answer that is cancelled after this many pieces of text."""
    cancel = CancelToken()
    events: list[Event] = []
    for event in engine.chat(request, cancel):
        events.append(event)
        if sum(isinstance(event, TextDelta) for event in events) == pieces:
            cancel.cancel()
    return events
