"""Counts what a chat takes of its model's context, or estimates it without the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.core.chats.answers import AnswerOptions
from app.core.chats.budget import ContextUse, bytes_per_token, estimate, use_of
from app.core.chats.conversation import StoredMessage
from app.core.chats.summary import ChatPrompt, in_effect, prompt_of, summed_up
from app.core.settings.fields import Settings
from app.services.answers.answers import Answers, Prepared
from app.services.engines.runtime import Runtime
from app.store.chats import ChatStore
from app.store.summaries import SummaryStore
from engines.errors import EngineError
from engines.memory.load_options import DEFAULT_CONTEXT
from engines.types import ChatRequest, Measured, Message


class Counting:
    """Measures the context of chats. Qt-free; from any thread, and waits for no answer."""

    def __init__(
        self, chats: ChatStore, summaries: SummaryStore, answers: Answers, runtime: Runtime
    ) -> None:
        self._chats = chats
        self._summaries = summaries
        self._answers = answers
        self._runtime = runtime

    def use(
        self, chat_id: str | None, draft: str, settings: Settings, options: AnswerOptions
    ) -> ContextUse:
        """Measure a chat's next question with this text; a chat of None has not begun.

        Raises ChatNotFound, ModelUnknown, and what a database may raise.
        """
        path: tuple[StoredMessage, ...] = ()
        if chat_id is not None:
            path = self._answers.told(self._chats.path(chat_id))
        prepared = self._answers.prepare(settings, options, chat_id)
        summary = None
        if chat_id is not None and prepared.settings.overflow == "compact":
            summary = in_effect(path, self._summaries.of_chat(chat_id))
        prompt = _asking(prompt_of(path, prepared.settings.system_prompt, summary), draft)
        request = replace(prepared.request, messages=prompt.messages)
        counted = self._counted(prepared, request)
        measured = counted or self._estimated(prepared, request, path)
        return use_of(
            prompt,
            measured,
            exact=counted is not None,
            policy=prepared.settings.overflow,
            draft=draft,
            most=self._answers.most_context(prepared.entry),
            summary=summary,
            summed=summed_up(path, summary),
        )

    def again(
        self,
        known: ContextUse,
        chat_id: str | None,
        draft: str,
        settings: Settings,
        options: AnswerOptions,
    ) -> ContextUse:
        """Measure again what `use` measured, where nothing but the draft has changed.

        The chat is not read and measured again, so that it may be as long as it likes. Raises
        what `use` raises.
        """
        prepared = self._answers.prepare(settings, options, chat_id)
        counted = [
            self._counted(prepared, replace(prepared.request, messages=(Message("user", text),)))
            for text in (known.draft, draft)
        ]
        before, now = counted
        if known.exact and before is not None and now is not None:
            recounted = known.recounted(draft, now.total - before.total)
            if recounted is not None:
                return recounted
        return self.use(chat_id, draft, settings, options)

    def _counted(self, prepared: Prepared, request: ChatRequest) -> Measured | None:
        """Count by the model; None where it is not loaded, or its template refuses the messages."""
        try:
            return self._runtime.measure_for(prepared.entry, prepared.load_options, request)
        except EngineError:
            return None

    def _estimated(
        self, prepared: Prepared, request: ChatRequest, path: Sequence[StoredMessage]
    ) -> Measured:
        """Estimate with the context that is set, that the chat had last, or that it would have."""
        name = prepared.entry.name
        last = (it.facts for it in reversed(path) if it.facts and it.facts.model == name)
        had = next((facts.context for facts in last if facts.context), None)
        context = prepared.load_options.context or had
        if context is None:
            context = self._runtime.context_of(prepared.entry, prepared.load_options)
        if context is None:
            most = self._answers.most_context(prepared.entry)
            context = min(DEFAULT_CONTEXT, most or DEFAULT_CONTEXT)
        return estimate(request.messages, context, request.max_tokens, bytes_per_token(path))


def _asking(prompt: ChatPrompt, draft: str) -> ChatPrompt:
    """Return the prompt with the draft as its question; one without an answer gives way to it."""
    messages, ids = prompt.messages, prompt.ids
    if messages and messages[-1].role == "user":
        if not draft:
            return prompt
        messages, ids = messages[:-1], ids[:-1]
    return ChatPrompt((*messages, Message("user", draft)), (*ids, ""))
