"""What is kept of how an answer was asked for, while it is being written."""

from __future__ import annotations

import contextlib
from dataclasses import replace

from app import __version__
from app.core.asked import Asked, as_json, from_json, mark_of, prompt_hash
from app.core.conversation import StoredMessage
from app.core.model_settings import OF_A_MODEL
from app.core.models import ModelEntry
from app.core.settings import Settings
from engines.types import ChatRequest, LoadedModel


def asked_of(entry: ModelEntry, held: Settings, request: ChatRequest, loaded: LoadedModel) -> Asked:
    """All but the seed, which is drawn by the engine. A file that has just gone has no mark."""
    marks = []
    with contextlib.suppress(OSError):
        marks = [mark_of(path) for path in entry.files]
    return Asked(
        model=entry.id,
        name=entry.name,
        files=tuple(marks),
        sha256=entry.sha256 or "",
        settings={name: getattr(held, name) for name in (*OF_A_MODEL, "overflow")},
        context=loaded.context,
        stop=request.stop,
        grammar=request.sampling.grammar,
        depth=request.depth,
        thinking=request.thinking,
        thinking_budget=request.thinking_budget,
        effort=request.effort,
        overflow=request.overflow,
        prompt=prompt_hash(request.messages),
        hearth=__version__,
    )


def begun(answer: StoredMessage, asked: Asked) -> StoredMessage:
    """An answer that is about to be written, or continued: then it has one part more."""
    before = from_json(answer.asked)
    parts = 1 + (before.parts if before and (answer.text or answer.reasoning) else 0)
    return replace(answer, asked=as_json(replace(asked, parts=parts)))


def drawn(answer: StoredMessage, seed: int) -> StoredMessage:
    """An answer whose seed is known."""
    asked = from_json(answer.asked)
    return replace(answer, asked=as_json(replace(asked, seed=seed))) if asked else answer
