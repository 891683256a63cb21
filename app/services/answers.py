"""Writing an answer: from the stored question to the last token, saved as it comes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from app.core.conversation import (
    AnswerFacts,
    Failure,
    MessageState,
    StoredMessage,
    as_prompt,
    path_to,
)
from app.core.models import ModelEntry
from app.core.settings import Settings
from app.services.library import Library
from app.services.runtime import Runtime
from app.store.chats import ChatStore
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import LoadCancelled, UserError
from engines.planner import Wishes
from engines.types import (
    ChatRequest,
    Done,
    Event,
    LoadedModel,
    Message,
    MtpMode,
    ReasoningDelta,
    Sampling,
    TextDelta,
)

T = TypeVar("T")

_SAVE_EVERY_S = 0.25

GREEDY = Sampling(temperature=0.0)


@dataclass(frozen=True)
class AnswerOptions:
    """What differs from the settings for one answer; None means: as the settings say.

    chat: the stored chat that the answer belongs to; None for an answer without one.
    anyway: load the model even if it does not seem to fit.
    """

    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    context: int | None = None
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    mtp: MtpMode | None = None
    depth: int | None = None
    grammar: str | None = None
    chat: str | None = None
    system_prompt: str | None = None
    anyway: bool = False

    @property
    def asked(self) -> Mapping[str, object]:
        """The settings among these, by their names."""
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "context": self.context,
            "max_tokens": self.max_tokens,
            "mtp": self.mtp,
            "system_prompt": self.system_prompt,
        }


@dataclass(frozen=True)
class Ready:
    """The model of an answer is loaded; comes before all that the engine says."""

    entry: ModelEntry
    loaded: LoadedModel


@dataclass(frozen=True)
class Ended:
    """The last event of a stored answer: the message as it was saved, or could not be."""

    message: StoredMessage
    saved: bool = True


AnswerEvent = Event | Ready | Ended


class Answers:
    """Qt-free; window and terminal both answer through it, on the engine's thread."""

    def __init__(self, chats: ChatStore, library: Library, runtime: Runtime) -> None:
        self._chats = chats
        self._library = library
        self._runtime = runtime

    def write(
        self,
        answer: StoredMessage,
        settings: Settings,
        options: AnswerOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> Iterator[AnswerEvent]:
        """Write the answer that the store holds in state "streaming"; ends with Ended.

        An answer that already has text is continued. Where the options leave MTP open, it is as
        the chat's switch stands. What can go wrong for a user is part of the ended message;
        nothing is raised for it.
        """
        written = answer
        saved_at = time.monotonic()
        try:
            path = path_to(self._chats.messages(answer.chat_id), answer.id)
            messages = as_prompt(path, self.system_prompt(settings, options))
            chosen = replace(
                options, mtp=_or(options.mtp, self._chats.mtp(answer.chat_id)), chat=answer.chat_id
            )
            for event in self.once(messages, settings, chosen, progress, cancel):
                if isinstance(event, TextDelta):
                    written = replace(written, text=written.text + event.text)
                elif isinstance(event, ReasoningDelta):
                    written = replace(written, reasoning=written.reasoning + event.text)
                elif isinstance(event, Done):
                    state: MessageState = (
                        "stopped" if event.finish_reason == "cancelled" else "complete"
                    )
                    written = replace(written, state=state, facts=self._facts(event))
                yield event
                if written.state == "streaming" and time.monotonic() - saved_at > _SAVE_EVERY_S:
                    # A save on the way may fail: the next one, or the last, holds everything.
                    with contextlib.suppress(UserError):
                        self._chats.save_answer(written)
                    saved_at = time.monotonic()
        except LoadCancelled:
            written = replace(written, state="stopped")
        except UserError as error:
            failure = Failure(error.code, error.what, error.why, error.do)
            written = replace(written, state="failed", failure=failure)
        except BaseException:
            self._chats.save_answer(replace(written, state="interrupted"))
            raise
        yield self._save_end(written)

    def once(
        self,
        messages: tuple[Message, ...],
        settings: Settings,
        options: AnswerOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> Iterator[Event | Ready]:
        """Answer without the store. Raises EngineError, ModelUnknown or LoadCancelled."""
        if cancel.cancelled:
            raise LoadCancelled
        entry = self._library.find(_or(options.model, settings.model))
        held = self._library.effective(entry, settings, options.asked)
        wishes = replace(wishes_of(held), anyway=options.anyway)
        yield Ready(entry, self._runtime.load(entry, wishes, progress, cancel))
        request = ChatRequest(
            messages=messages,
            sampling=replace(held.sampling, seed=options.seed, grammar=options.grammar),
            max_tokens=held.max_tokens or None,
            stop=options.stop,
            mtp=held.mtp,
            depth=options.depth,
            chat=options.chat,
        )
        for event in self._runtime.chat(request, cancel):
            if isinstance(event, Done):
                self._library.used(entry)
            yield event

    def system_prompt(self, settings: Settings, options: AnswerOptions) -> str:
        """The one that holds for an answer. Raises ModelUnknown."""
        called = _or(options.model, settings.model)
        return _or(
            options.system_prompt, self._library.settings_for(called, settings).system_prompt
        )

    def usual_mtp(self, settings: Settings) -> MtpMode:
        """How the switch of a new chat stands, told at once."""
        try:
            return self._library.settings_at_once(settings.model, settings).mtp
        except UserError:
            return settings.mtp

    def _save_end(self, message: StoredMessage) -> Ended:
        try:
            self._chats.save_answer(message)
        except UserError as error:
            failure = Failure(error.code, error.what, error.why, error.do)
            return Ended(replace(message, state="failed", failure=failure), saved=False)
        return Ended(message)

    def _facts(self, done: Done) -> AnswerFacts:
        entry = self._runtime.entry
        return AnswerFacts(
            model=entry.name if entry else "",
            engine=self._runtime.engine_name,
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
        )


def wishes_of(settings: Settings, context: int | None = None) -> Wishes:
    """What the user wants of a load; context in tokens, None as the settings say."""
    return Wishes(
        context=_or(context, settings.context) or None,
        threads=settings.threads or None,
        gpu_layers=None if settings.gpu_layers < 0 else settings.gpu_layers,
        kv_type=settings.kv_type,
        kept_bytes=settings.kv_memory * 1_000_000,
    )


def _or(chosen: T | None, otherwise: T) -> T:
    return otherwise if chosen is None else chosen
