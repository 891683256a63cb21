"""What a chat takes of its model's context: counted by the model, or estimated without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.core.chats.budget import ContextUse, bytes_per_token, estimate, use_of
from app.core.chats.conversation import StoredMessage
from app.core.chats.summary import ChatPrompt, in_effect, prompt_of, summed_up
from app.core.settings.fields import Settings
from app.services.answers.answers import AnswerOptions, Answers, Prepared
from app.services.engines.runtime import Runtime
from app.store.chats import ChatStore
from app.store.summaries import SummaryStore
from engines.errors import EngineError
from engines.memory.load_options import DEFAULT_CONTEXT
from engines.types import ChatRequest, Measured, Message


class Counting:
    """Qt-free; may be used from any thread, and waits for no answer."""

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
        """Of the chat's next question, with this text. A chat of None has not begun.

        Raises ChatNotFound, ModelUnknown, and what a database may raise.
        """
        path: tuple[StoredMessage, ...] = ()
        chosen = options
        if chat_id is not None:
            path = self._chats.path(chat_id)
            chosen = self._answers.in_chat(chat_id, settings, options)
        prepared = self._answers.prepare(settings, chosen)
        summary = None
        if chat_id is not None and prepared.overflow == "compact":
            summary = in_effect(path, self._summaries.of_chat(chat_id))
        prompt = _asking(
            prompt_of(path, self._answers.system_prompt(settings, chosen), summary), draft
        )
        request = replace(prepared.request, messages=prompt.messages)
        counted = self._counted(prepared, request)
        measured = counted or self._estimated(prepared, request, path)
        return use_of(
            prompt,
            measured,
            exact=counted is not None,
            policy=prepared.overflow,
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
        """What `use` says, where nothing but the draft is another than in what is known.

        The chat is not read and measured again, so that it may be as long as it likes. Raises
        what `use` raises.
        """
        chosen = options
        if chat_id is not None:
            chosen = self._answers.in_chat(chat_id, settings, options)
        prepared = self._answers.prepare(settings, chosen)
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
        """None where the model is not loaded, or its chat template refuses the messages."""
        try:
            return self._runtime.measure_for(prepared.entry, prepared.load_options, request)
        except EngineError:
            return None

    def _estimated(
        self, prepared: Prepared, request: ChatRequest, path: Sequence[StoredMessage]
    ) -> Measured:
        """With the context that is wished for, that the chat had last, or that is usual."""
        name = prepared.entry.name
        last = (it.facts for it in reversed(path) if it.facts and it.facts.model == name)
        had = next((facts.context for facts in last if facts.context), None)
        usual = min(DEFAULT_CONTEXT, self._answers.most_context(prepared.entry) or DEFAULT_CONTEXT)
        if prepared.entry.engine == "remote":
            usual = prepared.entry.context  # what is usual here says nothing of a server
        context = prepared.load_options.context or had or usual
        return estimate(request.messages, context, request.max_tokens, bytes_per_token(path))


def _asking(prompt: ChatPrompt, draft: str) -> ChatPrompt:
    """The prompt with the draft as its last question; a question without answer gives way to it."""
    messages, ids = prompt.messages, prompt.ids
    if messages and messages[-1].role == "user":
        if not draft:
            return prompt
        messages, ids = messages[:-1], ids[:-1]
    return ChatPrompt((*messages, Message("user", draft)), (*ids, ""))
