"""Counts, or estimates without the model, how much of its model's context a chat takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from app.chats.answers.services.grounding import Grounding, Path
from app.chats.answers.services.preparing import Prepared, Preparing
from app.chats.answers.services.senses import expected_of
from app.chats.answers.values.answers import AnswerOptions
from app.chats.context.store import SummaryStore
from app.chats.context.values.budget import (
    BYTES_PER_TOKEN,
    OF_A_PICTURE,
    ContextUse,
    FileUse,
    bytes_per_token,
    estimate,
    medium_tokens,
    use_of,
)
from app.chats.context.values.summary import ChatPrompt, Summary, in_effect, prompt_of, summed_up
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from app.documents.values.documents import (
    MEDIA_ORIGINS,
    AttachedFile,
    Attachment,
    PromptSource,
    share_of,
)
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from engines.errors import EngineError, UserError
from engines.memory.load_options import DEFAULT_CONTEXT
from engines.types import ChatRequest, Measured, MediaKind, Message

Counted = tuple[Measured, bool]
"""A measured prompt, and whether the model itself counted its tokens."""


class Counting:
    """Measures the context of chats. Qt-free; usable from any thread, and waits for no answer."""

    def __init__(
        self,
        chats: ChatStore,
        summaries: SummaryStore,
        preparing: Preparing,
        grounding: Grounding,
        runtime: Runtime,
    ) -> None:
        self._chats = chats
        self._summaries = summaries
        self._preparing = preparing
        self._grounding = grounding
        self._runtime = runtime

    def use(
        self,
        chat_id: str | None,
        draft: str,
        settings: Settings,
        options: AnswerOptions,
        attachments: Sequence[Attachment] = (),
    ) -> ContextUse:
        """Measure a chat's next question.

        Args:
            chat_id: None for a chat that has not begun.
            draft: The question's text.
            attachments: The files that go with it.

        Raises:
            ChatNotFound: The chat is deleted.
            ModelUnknown: The chat's model is missing.
            AppError: The database cannot be read.
        """
        before = self._chats.path(chat_id) if chat_id is not None else ()
        path: Path = _asking(before, draft, attachments)
        prepared = self._preparing.prepare(settings, options, chat_id)
        system_prompt = prepared.settings.system_prompt
        measure = self._measuring(prepared, before)
        supported = expected_of(prepared.entry)
        path = self._grounded(
            path, lambda messages: measure(prompt_of(messages, system_prompt))[0], supported
        )
        sent = self._grounding.with_sources(path, supported=supported)
        summary = None
        if chat_id is not None and prepared.settings.overflow == "compact":
            summary = in_effect(sent, self._summaries.of_chat(chat_id))
        prompt = prompt_of(sent, system_prompt, summary)
        measured, exact = measure(prompt)
        own = None
        files: tuple[FileUse, ...] = ()
        if any(message.sources for message in path):
            bare = _without_files(path, sent, system_prompt, summary)
            own = (bare, measure(bare)[0])
            files = self._files(path, prompt, measured, own[1], supported)
        return use_of(
            prompt,
            measured,
            exact=exact,
            policy=prepared.settings.overflow,
            draft=draft,
            most=self._preparing.most_context(prepared.entry),
            summary=summary,
            summed=summed_up(sent, summary),
            own=own,
            files=files,
        )

    def hindrance(
        self,
        chat_id: str | None,
        settings: Settings,
        options: AnswerOptions,
        attachments: Sequence[Attachment],
    ) -> UserError | None:
        """Return why one of these files cannot be sent, else None. Raises the same as `use`."""
        if all(attachment.kind.medium is None for attachment in attachments):
            return None
        return self._preparing.media_problem(attachments, settings, options, chat_id)

    def again(
        self,
        known: ContextUse,
        chat_id: str | None,
        draft: str,
        settings: Settings,
        options: AnswerOptions,
        attachments: Sequence[Attachment] = (),
    ) -> ContextUse:
        """Measure again after only the draft has changed.

        The chat is not read and measured again, so its length does not matter; passages of files
        are not chosen again for the new draft either. Raises the same as `use`.
        """
        prepared = self._preparing.prepare(settings, options, chat_id)
        counted = [
            self._counted(prepared, replace(prepared.request, messages=(Message("user", text),)))
            for text in (known.draft, draft)
        ]
        before, now = counted
        if known.exact and before is not None and now is not None:
            recounted = known.recounted(draft, now.total - before.total)
            if recounted is not None:
                return recounted
        return self.use(chat_id, draft, settings, options, attachments)

    def _grounded(
        self, path: Path, measure: Callable[[Path], Measured], supported: frozenset[MediaKind]
    ) -> Path:
        """Return a path whose last answer has the sources that it would get from files."""
        files = self._grounding.files_not_sent(path, supported)
        if not files:
            return path
        sources = self._grounding.choose(path, files, supported, measure)
        return (*path[:-1], replace(path[-1], sources=sources))

    def _files(
        self,
        path: Path,
        prompt: ChatPrompt,
        measured: Measured,
        own: Measured,
        supported: frozenset[MediaKind],
    ) -> tuple[FileUse, ...]:
        """Return how much of each file is in the prompt.

        Media that the model does not take are left out of the result.

        Args:
            own: The prompt measured without the text of files.
        """
        found = {
            file.document.sha256: _InPrompt(file)
            for file in self._grounding.files(path)
            if (kind := file.document.kind.medium) is None or kind in supported
        }
        new = {
            attachment.sha256
            for message in path
            if not message.id
            for attachment in message.attachments
        }
        for question, answer in pairwise(path):
            at = len(prompt.ids) - 1
            if question.id:
                at = prompt.ids.index(question.id) if question.id in prompt.ids else -1
            if at < 0 or at in measured.left or not answer.sources:
                continue
            parts = [
                (found[source.document], source)
                for source in answer.sources
                if source.document in found
            ]
            characters = sum(file.length(source) for file, source in parts)
            each = max(0, measured.lengths[at] - own.lengths[at]) / max(1, characters)
            for file, source in parts:
                file.sources.append(source)
                file.tokens += each * file.length(source)
                file.each = each
        return tuple(file.use(file.file.document.sha256 in new) for file in found.values())

    def _measuring(self, prepared: Prepared, path: Path) -> Callable[[ChatPrompt], Counted]:
        """Return a function that measures prompts.

        It counts with the model or, if that is not loaded, estimates. An estimate uses the context
        that is set, that the chat had last, or that it would get.
        """

        @cache
        def context() -> int:
            name = prepared.entry.name
            last = (
                message.facts
                for message in reversed(path)
                if message.facts and message.facts.model == name
            )
            had = next((facts.context for facts in last if facts.context), None)
            found = prepared.load_options.context or had
            if found is None:
                found = self._runtime.context_of(prepared.entry, prepared.load_options)
            if found is None:
                most = self._preparing.most_context(prepared.entry)
                found = min(DEFAULT_CONTEXT, most or DEFAULT_CONTEXT)
            return found

        ratio = bytes_per_token(path)

        def measure(prompt: ChatPrompt) -> Counted:
            request = replace(prepared.request, messages=prompt.messages)
            counted = self._counted(prepared, request)
            if counted is not None:
                return counted, True
            return estimate(request.messages, context(), request.max_tokens, ratio), False

        return measure

    def _counted(self, prepared: Prepared, request: ChatRequest) -> Measured | None:
        """Count with the model; None if it is not loaded or its template refuses the messages."""
        try:
            return self._runtime.measure_for(prepared.entry, prepared.load_options, request)
        except EngineError:
            return None


@dataclass
class _InPrompt:
    """A file and the parts of it in a prompt.

    Attributes:
        tokens: Tokens of these parts.
        each: Tokens per character.
    """

    file: AttachedFile
    sources: list[PromptSource] = field(default_factory=list)
    tokens: float = 0.0
    each: float = 1 / BYTES_PER_TOKEN

    def length(self, source: PromptSource) -> int:
        """Return a part's length in characters; a medium counts as text of as many tokens."""
        if source.origin in MEDIA_ORIGINS:
            medium = self.file.document.medium
            return round((medium_tokens(medium) if medium else OF_A_PICTURE) * BYTES_PER_TOKEN)
        return source.end - source.start if source.place else len(self.file.document.text)

    def use(self, new: bool) -> FileUse:
        """Return the value for the window.

        Args:
            new: Whether the file goes with the next question.
        """
        document = self.file.document
        share = share_of(self.file, self.sources)
        tokens = round(self.tokens)
        whole = tokens if share.whole else round(self.each * len(document.text))
        return FileUse(document.sha256, share, tokens, whole, new)


def _without_files(
    path: Path, sent: Path, system_prompt: str, summary: Summary | None
) -> ChatPrompt:
    """Return the prompt of a path with only the user's own words and pins.

    Args:
        path: The stored messages, with the user's own pins.
        sent: The same messages with what they contain from files.
    """
    bare = [
        replace(message, pinned=original.pinned)
        for original, message in zip(sent, path, strict=True)
    ]
    prompt = prompt_of(bare, system_prompt, summary)
    pinned = {message.id for message in path if message.pinned}
    found = zip(prompt.messages, prompt.ids, strict=True)
    return ChatPrompt(
        tuple(replace(message, pinned=original in pinned) for message, original in found),
        prompt.ids,
    )


def _asking(path: Path, draft: str, attachments: Sequence[Attachment]) -> tuple[StoredMessage, ...]:
    """Return a path with the draft as its question and an empty answer.

    The draft replaces a question that has no answer.
    """
    answer = StoredMessage("", "", None, "assistant", "", 0.0, "streaming")
    if path and path[-1].role == "user":
        if not draft and not attachments:
            return (*path, answer)
        path = path[:-1]
    files = tuple(attachments)
    return (*path, StoredMessage("", "", None, "user", draft, 0.0, attachments=files), answer)
