"""What is kept of how an answer was asked for, while it is being written."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import groupby

from app import __version__
from app.core.chats.asked import Asked, as_json, from_json, mark_of, prompt_hash
from app.core.chats.conversation import AnswerFacts, MessageState, StoredMessage
from app.core.models.entry import ModelEntry
from app.core.settings.fields import Settings
from app.core.settings.models import OF_A_MODEL
from engines.types import ChatRequest, Done, LoadedModel


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
    if before is None or not (answer.text or answer.reasoning):
        return replace(answer, asked=as_json(asked))
    wrote = [*before.before, *([] if before.edited else [before.name])]
    names = tuple(name for name, _ in groupby([*wrote, asked.name]))[:-1]
    more = replace(asked, parts=1 + before.parts, before=names)
    return replace(answer, asked=as_json(more))


def ended(
    answer: StoredMessage, done: Done, model: str, engine: str, notes: tuple[str, ...]
) -> StoredMessage:
    """An answer that has come to its end, whose seed is known. notes: of the loaded model."""
    state: MessageState = "stopped" if done.finish_reason == "cancelled" else "complete"
    facts = AnswerFacts(
        model=model,
        engine=engine,
        prompt_tokens=done.usage.prompt_tokens,
        cached_tokens=done.usage.cached_tokens,
        completion_tokens=done.usage.completion_tokens,
        context=done.usage.context,
        left_out=done.usage.left_out,
        ttft_s=done.timing.ttft_s,
        decode_tok_s=done.timing.decode_tok_s,
        seed=done.seed,
        finish_reason=done.finish_reason,
        mtp=done.mtp,
        notes=tuple(dict.fromkeys((*notes, *done.notes))),
    )
    asked = from_json(answer.asked)
    mark = as_json(replace(asked, seed=done.seed)) if asked else answer.asked
    return replace(answer, state=state, facts=facts, asked=mark)
