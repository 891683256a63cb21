"""An answer in progress: its growing text, saved at intervals and at its end."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from sys import maxsize
from typing import Final, TypeVar

from app import __version__
from app.chats.answers.values.answer_record import (
    AnswerRecord,
    as_json,
    from_json,
    mark_of,
    prompt_hash,
)
from app.chats.answers.values.answers import AnswerEvent, Ended, Grounded, Ready
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import AnswerFacts, Failure, MessageState, StoredMessage
from app.models.library.values.entry import ModelEntry
from app.runtime.services.queue import Ticket
from app.settings.values.fields import Settings
from app.settings.values.models import MODEL_SETTINGS
from engines.errors import UserError
from engines.types import (
    ChatRequest,
    Done,
    Event,
    LoadedModel,
    ReasoningDelta,
    TextDelta,
    WasReasoning,
)

E = TypeVar("E", bound=AnswerEvent)

EVERY_S: Final = 0.25
REST: Final = 10
"""Pause between saves, in multiples of the time that the last save took.

Without it, many simultaneous answers would overload a slow disk.
"""


class AnswerInProgress:
    """A stored answer until it ends; the only place that holds its text.

    One thread writes it and calls everything except `so_far`, which any thread can call.

    Attributes:
        ticket: The answer's place in the queue for the engines.
    """

    def __init__(self, chats: ChatStore, answer: StoredMessage, ticket: Ticket) -> None:
        self.answer = answer
        self.ticket = ticket
        self._chats = chats
        self._growing = GrowingAnswer(answer)
        self._saving = Saving(chats)
        self._written = answer
        self._ready: Ready | None = None

    def so_far(self, message: StoredMessage, characters: int = maxsize) -> StoredMessage:
        """Return the message with the text written so far.

        Args:
            characters: Limit the text to this many of the characters that have arrived.
        """
        return self._growing.with_text(message, characters)

    def record(self, event: E) -> E:
        """Record what an event says about the answer, and return the event."""
        if isinstance(event, TextDelta | ReasoningDelta | WasReasoning):
            self._growing.add(event)
        elif isinstance(event, Ready):
            self._ready = event
        elif isinstance(event, AnswerRecord):
            self._written = with_request(self._written, event)
        elif isinstance(event, Grounded):
            self._written = replace(self._written, sources=event.sources)
        elif isinstance(event, Done) and self._ready is not None:
            self._written = with_result(self._written, event, self._ready)
        return event

    def save_if_due(self) -> None:
        """Save the text so far if enough time has passed."""
        if self._written.state == "streaming" and self._saving.is_due:
            self._saving.save_partial(self.so_far(self._written))

    def stop(self) -> None:
        """Mark the answer as stopped by the user."""
        self._written = replace(self._written, state="stopped")

    def fail(self, error: UserError) -> None:
        """Mark the answer as failed, with the reason."""
        self._written = replace(self._written, state="failed", failure=Failure.of(error))

    def interrupt(self) -> None:
        """Save the text so far of an answer that will not be finished."""
        self._chats.save_answer(self.so_far(replace(self._written, state="interrupted")))

    def end(self) -> Ended:
        """Save the finished answer and return its last event."""
        self._growing.end()
        return self._saving.end(self.so_far(self._written))


class GrowingAnswer:
    """Collects the text and reasoning of an answer, new or continued.

    One thread adds to it; any thread reads.

    Args:
        now: Returns the seconds of a monotonic clock.
    """

    def __init__(self, answer: StoredMessage, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._before = answer
        self._runs: list[tuple[type[Event], list[str]]] = []
        self._reasoned_s = answer.reasoning_s
        self._began: float | None = None
        self._text_began: float | None = None

    @property
    def reasoning_s(self) -> float:
        """Seconds spent reasoning, including the time up to now if it is still reasoning."""
        running = 0.0 if self._began is None else self._now() - self._began
        return self._reasoned_s + running

    def add(self, event: TextDelta | ReasoningDelta | WasReasoning) -> None:
        """Add a piece of text or reasoning, or move the text so far to the reasoning."""
        with self._lock:
            if not self._runs or self._runs[-1][0] is not type(event):
                self._runs.append((type(event), []))
            match event:
                case TextDelta(text):
                    self._end_reasoning()
                    self._runs[-1][1].append(text)
                    if self._text_began is None:
                        self._text_began = self._now()
                case ReasoningDelta(text):
                    self._runs[-1][1].append(text)
                    if self._began is None:
                        self._began = self._now()
                case WasReasoning():
                    if self._text_began is not None:
                        self._reasoned_s += self._now() - self._text_began

    def end(self) -> None:
        """Note that nothing more will arrive."""
        with self._lock:
            self._end_reasoning()

    def with_text(self, message: StoredMessage, characters: int = maxsize) -> StoredMessage:
        """Return the message with the answer so far, or with only so many `characters` of it."""
        text, reasoning = self._before.text, self._before.reasoning
        with self._lock:
            for kind, pieces in self._runs:
                run = "".join(pieces)
                if kind is TextDelta:
                    text += run[:characters]
                elif kind is ReasoningDelta:
                    reasoning += run[:characters]
                else:
                    text, reasoning = "", reasoning + text
                characters -= len(run)
                if characters < 0:
                    break
            return replace(message, text=text, reasoning=reasoning, reasoning_s=self.reasoning_s)

    def _end_reasoning(self) -> None:
        self._reasoned_s, self._began = self.reasoning_s, None


class Saving:
    """Saves one answer, on the thread that writes it.

    Args:
        now: Returns the seconds of a monotonic clock.
    """

    def __init__(self, chats: ChatStore, now: Callable[[], float] = time.monotonic) -> None:
        self._chats = chats
        self._now = now
        self._due = now() + EVERY_S

    @property
    def is_due(self) -> bool:
        """True if the next save is due."""
        return self._now() > self._due

    def save_partial(self, message: StoredMessage) -> None:
        """Save the text so far; ignore failures, as the next or last save includes everything."""
        began = self._now()
        with contextlib.suppress(UserError):
            self._chats.save_answer(message)
        now = self._now()
        self._due = now + max(EVERY_S, REST * (now - began))

    def end(self, message: StoredMessage) -> Ended:
        """Save the message; if that fails, return an event whose message carries the reason."""
        try:
            self._chats.save_answer(message)
        except UserError as error:
            failed = replace(message, state="failed", failure=Failure.of(error))
            return Ended(failed, unsaved=message)
        return Ended(message)


def record_of(
    entry: ModelEntry, settings: Settings, request: ChatRequest, loaded: LoadedModel
) -> AnswerRecord:
    """Record how an answer is requested, without the seed; without marks if a file is missing."""
    marks = []
    with contextlib.suppress(OSError):
        marks = [mark_of(path) for path in entry.files]
    return AnswerRecord(
        model=entry.id,
        name=entry.name,
        files=tuple(marks),
        sha256=entry.sha256 or "",
        settings={name: getattr(settings, name) for name in (*MODEL_SETTINGS, "overflow")},
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


def with_request(answer: StoredMessage, record: AnswerRecord) -> StoredMessage:
    """Return the message with the record of its request; a continued answer gains one part."""
    previous = from_json(answer.asked)
    if previous is None or not (answer.text or answer.reasoning):
        return replace(answer, asked=as_json(record))
    wrote = [*previous.before, *([] if previous.edited else [previous.name])]
    names = tuple(name for name, _ in groupby([*wrote, record.name]))[:-1]
    continued = replace(record, parts=1 + previous.parts, before=names)
    return replace(answer, asked=as_json(continued))


def with_result(answer: StoredMessage, done: Done, ready: Ready) -> StoredMessage:
    """Return the message of a finished answer, including its seed.

    Args:
        ready: The event with which the answer's model was loaded.
    """
    ended_early = done.finish_reason in {"cancelled", "repetition"}
    state: MessageState = "stopped" if ended_early else "complete"
    facts = AnswerFacts(
        model=ready.entry.name,
        engine=ready.engine,
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
        notes=tuple(dict.fromkeys((*ready.loaded.notes, *done.notes))),
        guessed=done.usage.guessed,
        why=ready.why,
    )
    record = from_json(answer.asked)
    record_text = as_json(replace(record, seed=done.seed)) if record else answer.asked
    return replace(answer, state=state, facts=facts, asked=record_text)
