"""Writes answers, from the stored question to the last token, and saves them as they grow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from app.assistants.values.assistants import NewChat
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.gone import naming, require_here
from app.chats.answers.services.grounding import Grounding, choose
from app.chats.answers.services.in_progress import AnswerInProgress, asked_of
from app.chats.answers.services.senses import ProjectorOf, expected_of, require_senses, taken_by
from app.chats.answers.values.answers import AnswerEvent, AnswerOptions, Grounded, Ready
from app.chats.context.services.compacting import Compacting
from app.chats.context.values.summary import prompt_of
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import (
    StoredMessage,
    path_to,
)
from app.documents.collections.values import FoundPassage
from app.documents.values.documents import (
    AttachedFile,
    Attachment,
    PromptSource,
    prompt_message,
    share_of,
)
from app.models.library.services.library import Library
from app.models.library.services.load_options import load_options_of, unmet
from app.models.library.values.entry import ModelEntry
from app.runtime.services.lease import Lease
from app.runtime.services.queue import Ticket, WaitListener
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from app.settings.values.models import effective
from app.settings.values.resolved import SettingLayers, resolve
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, MediaUnsupported, UserError
from engines.memory.load_options import LoadOptions
from engines.types import (
    ChatRequest,
    Done,
    EngineName,
    Event,
    Measured,
    MediaKind,
    Message,
    MtpMode,
)


@dataclass(frozen=True)
class Prepared:
    """The model and settings for an answer, and its request without messages.

    Attributes:
        settings: Resolved settings; `model` is the name that was requested.
    """

    entry: ModelEntry
    settings: Settings
    load_options: LoadOptions
    request: ChatRequest


class Answers:
    """Writes answers for window and terminal alike, on the thread of the caller. Qt-free.

    Args:
        leaves_traces: Whether the engine can keep on disk what it computed for a chat, and the list
            of models records when each answered last.
        prefer: Given a model that nobody chose for the chat, the settings and the number of answers
            wanted now, returns the model to use; they differ if the same model is installed for
            several engines. Models are given by name or id.
        why: Returns why this engine was chosen for a model; see `Ready`.
        local_fallback: Returns the model for a stored chat whose user has not chosen one, given the
            usual model: a different one if the usual model runs on a server.
        projector_of: Finds the projector for a model that lacks the one it needs to see.
    """

    def __init__(
        self,
        chats: ChatStore,
        library: Library,
        runtime: Runtime,
        layers: ChatLayers,
        compacting: Compacting,
        grounding: Grounding,
        *,
        leaves_traces: bool = True,
        prefer: Callable[[str, Settings, int], str] = lambda called, _settings, _count: called,
        why: Callable[[ModelEntry, Settings, int], str] = lambda _entry, _settings, _count: "",
        local_fallback: Callable[[str], str] = lambda usual: usual,
        projector_of: ProjectorOf = lambda _entry: None,
    ) -> None:
        self._chats = chats
        self._library = library
        self._runtime = runtime
        self._layers = layers
        self._compacting = compacting
        self._grounding = grounding
        self._leaves_traces = leaves_traces
        self._prefer = prefer
        self._why = why
        self._local_fallback = local_fallback
        self._projector_of = projector_of
        self._anyway: set[str] = set()
        self._lock = threading.Lock()
        self._wanted = 0

    def write(
        self,
        answer: StoredMessage,
        settings: Settings,
        options: AnswerOptions,
        progress: Progress,
        cancel: CancelToken,
        writing: AnswerInProgress | None = None,
    ) -> Generator[AnswerEvent, None, None]:
        """Write the answer that the store holds in state "streaming"; the last event is Ended.

        An answer that already has text is continued. If the options leave MTP open, the chat's
        switch decides. Errors that concern the user become part of the ended message and are not
        raised.

        Args:
            writing: The result of `begin`; its ticket is released at the end. None joins the queue
                now.
        """
        writing = writing or self.begin(answer)
        try:
            with writing.ticket as ticket, self._counted():
                path = path_to(self._chats.messages(answer.chat_id), answer.id)
                prepared = self.prepare(settings, options, answer.chat_id)
                system_prompt = prepared.settings.system_prompt
                asked = [it for message in path[-2:] for it in message.attachments]
                self._require_senses(asked, expected_of(prepared.entry), prepared)
                with self._lease(prepared, progress, cancel, ticket) as model:
                    ready = self._ready(prepared, model)
                    yield writing.take(ready)
                    taken = taken_by(ready.loaded)
                    self._require_senses(asked, taken, prepared)
                    if not answer.sources:
                        chosen = self.collections_of(options, answer.chat_id)
                        found = self._grounding.passages(chosen, path[-2].text, cancel)
                        files = self._grounding.untold(path, taken)
                        if files or found:
                            grounded = self._ground(path, files, found, prepared, model, cancel)
                            path = (*path[:-1], replace(path[-1], sources=grounded.sources))
                            yield writing.take(grounded)
                    path = self._grounding.told(path, taken=taken)
                    if prepared.settings.overflow == "compact":
                        prompt = yield from self._compacting.free_space(
                            model, path, system_prompt, prepared.request, cancel
                        )
                    else:
                        prompt = prompt_of(path, system_prompt)
                    request = replace(prepared.request, messages=prompt.messages)
                    yield writing.take(
                        asked_of(prepared.entry, prepared.settings, request, ready.loaded)
                    )
                    stop = prepared.settings.stop_repetition
                    with closing(model.chat(request, cancel, stop_repetition=stop)) as events:
                        for event in events:
                            self._note_use(prepared.entry, event)
                            yield writing.take(event)
                            writing.save_if_due()
        except Cancelled:
            writing.stop()
        except UserError as error:
            writing.fail(error)
        except BaseException:
            writing.interrupt()
            raise
        yield writing.end()

    def once(
        self,
        messages: tuple[Message, ...],
        settings: Settings,
        options: AnswerOptions,
        progress: Progress,
        cancel: CancelToken,
        files: Sequence[AttachedFile] = (),
    ) -> Iterator[Event | Ready | Grounded]:
        """Answer without the store.

        Args:
            files: Files that go with the last message.

        Raises:
            EngineError: The engine failed.
            ModelUnknown: The model is not on this computer.
            Cancelled: `cancel` was set.
        """
        prepared = self.prepare(settings, options)
        request = replace(prepared.request, messages=messages)
        prepared = replace(prepared, request=request)
        collections = options.collections or ()
        return self.answer(prepared, progress, cancel, files, collections=collections)

    def answer(
        self,
        prepared: Prepared,
        progress: Progress,
        cancel: CancelToken,
        files: Sequence[AttachedFile] = (),
        *,
        collections: Sequence[str] = (),
        for_client: bool = False,
    ) -> Iterator[Event | Ready | Grounded]:
        """Answer a complete request without the store.

        Args:
            files: Files that go with the last message.
            collections: Ids of the collections that ground the answer.
            for_client: Whether another program asks; the request says whether that is a guest.

        Raises:
            EngineError: The engine failed.
            Cancelled: `cancel` was set.
        """
        request = prepared.request
        attached = [file.attachment for file in files]
        self._require_senses(attached, expected_of(prepared.entry), prepared)
        with (
            self._runtime.queue.join(guest=prepared.request.guest) as ticket,
            self._lease(prepared, progress, cancel, ticket, for_client=for_client) as model,
        ):
            yield self._ready(prepared, model)
            self._require_senses(attached, taken_by(model.loaded), prepared)
            question = request.messages[-1].text if collections else ""
            found = self._grounding.passages(collections, question, cancel)
            if files or found:
                request, grounded = self._with_files(request, files, found, model, cancel)
                yield grounded
            stop = prepared.settings.stop_repetition
            with closing(model.chat(request, cancel, stop_repetition=stop)) as events:
                for event in events:
                    self._note_use(prepared.entry, event)
                    yield event

    def told(self, path: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
        """Return a path as a model sees it: each question with the parts of files in its prompt."""
        return self._grounding.told(path)

    def files(self, path: Sequence[StoredMessage]) -> tuple[AttachedFile, ...]:
        """Return all files of a path, to check its answers against."""
        return self._grounding.files(path)

    def files_of(
        self, sources: Sequence[PromptSource], files: Sequence[AttachedFile]
    ) -> tuple[AttachedFile, ...]:
        """Return all files from which an answer's prompt had text.

        Args:
            files: The attached files.
        """
        attached = {file.document.sha256 for file in files}
        names = {it.document: it.name for it in sources if it.document not in attached}
        found = self._grounding.documents(names)
        return (*files, *(AttachedFile(names[it], found[it]) for it in names if it in found))

    def begin(self, answer: StoredMessage, told: WaitListener = lambda _: None) -> AnswerInProgress:
        """Join the queue for an answer requested now, and return the answer in progress.

        Callable from any thread. The caller must pass the result to `write` at once, or release its
        ticket.

        Args:
            told: Called with the reason the answer waits.
        """
        return AnswerInProgress(self._chats, answer, self._runtime.queue.join(told))

    def load_anyway(self, model: str) -> None:
        """Load this model even if it does not seem to fit, for as long as Hearth is open."""
        self._anyway.add(model)

    def with_model(self, chat: NewChat, settings: Settings) -> NewChat:
        """Return a new chat's settings with the preferred engine's model, if none was chosen.

        With the engine on automatic, Hearth chooses it for each answer, and nothing changes here.
        """
        if chat.model is None or not chat.usual or settings.engine == "auto":
            return chat
        return replace(chat, model=self._prefer(chat.model, settings, 1))

    def prepare(
        self, settings: Settings, options: AnswerOptions, chat_id: str | None = None
    ) -> Prepared:
        """Find the model and all settings for an answer; callable from any thread.

        Args:
            chat_id: The stored chat that the answer belongs to; None without a chat.

        Raises:
            ModelUnknown: The model is missing; the error says where it was chosen.
        """
        layers = self._all_layers(options, chat_id)
        usual = self._usual(settings, chat_id)
        with naming(layers, layers.model or usual):
            chosen = resolve(settings, self._library.own, layers, lambda _: usual).settings
            called = chosen.model
            begun_so = layers.is_default_model and layers.message.get("model") is None
            if begun_so or (layers.model is None and usual == settings.model):
                called = self._prefer(called, chosen, max(1, self._wanted))
            entry = self._library.find(called)
            require_here(entry)
        request = ChatRequest(
            messages=(),
            sampling=replace(chosen.sampling, seed=options.seed, grammar=options.grammar),
            max_tokens=chosen.max_tokens or None,
            stop=options.stop,
            mtp=chosen.mtp,
            depth=options.depth,
            chat=chat_id if self._leaves_traces else None,
            overflow="stop" if chosen.overflow == "stop" else "leave_out",
            thinking=None if chosen.thinking == "model" else chosen.thinking == "on",
            thinking_budget=chosen.thinking_budget or None,
            effort=None if chosen.effort == "model" else chosen.effort,
            adapter=chosen.adapter.strip() or None,
        )
        if options.thinking_budget is not None:
            request = replace(request, thinking_budget=options.thinking_budget)
        load_options = replace(
            load_options_of(chosen, entry.engine, options.depth),
            anyway=options.anyway or chosen.model in self._anyway,
        )
        return Prepared(entry, chosen, load_options, request)

    def model_of(self, chat_id: str, settings: Settings) -> str:
        """Return the model that answers in a chat, under the name it was chosen by."""
        return self._layers.of(chat_id).model or self._usual(settings, chat_id)

    def withheld_model(self, chat_id: str, settings: Settings) -> str | None:
        """Return the usual model if it is withheld from a chat's text, else None.

        It is withheld if it runs on a server and the user has not chosen it for this chat.
        """
        kept = self._layers.of(chat_id).model is None
        return settings.model if kept and self._usual(settings, chat_id) != settings.model else None

    def hindrance(
        self,
        attachments: Sequence[Attachment],
        settings: Settings,
        options: AnswerOptions,
        chat_id: str | None,
    ) -> MediaUnsupported | None:
        """Return why a picture or sound cannot be sent, as far as that is known before loading.

        Raises:
            ModelUnknown: The chat's model is missing.
        """
        prepared = self.prepare(settings, options, chat_id)
        try:
            self._require_senses(attachments, expected_of(prepared.entry), prepared)
        except MediaUnsupported as error:
            return error
        return None

    def most_context(self, entry: ModelEntry) -> int:
        """Return the context a model was trained for, in tokens; 0 if its file cannot be read."""
        try:
            most = self._library.facts(entry).context_max
        except EngineError:
            return 0
        self._library.keep_facts()  # the next start need not read them again
        return most

    def doing(self, engine: EngineName | None) -> str:
        """Return how an engine describes loading a model, or "". Callable from any thread."""
        return self._runtime.status(engine).words.partition(":")[0] if engine else ""

    def usual_mtp(self, settings: Settings) -> MtpMode:
        """Return the MTP mode of a new chat, without waiting."""
        try:
            return effective(settings, self._library.own_at_once(settings.model)).mtp
        except UserError:
            return settings.mtp

    def _all_layers(self, options: AnswerOptions, chat_id: str | None) -> SettingLayers:
        """Collect the layers of the assistant, the chat with its switches, and these options."""
        layers = options.under
        if chat_id is not None:
            layers = self._layers.of(chat_id)
            switches = {
                "mtp": self._chats.mtp(chat_id),
                "overflow": self._compacting.policy(chat_id),
            }
            layers = replace(layers, chat={**layers.chat, **switches})
        return replace(layers, message=options.settings)

    def _usual(self, settings: Settings, chat_id: str | None) -> str:
        """Return the model for a chat whose user has not chosen one."""
        return settings.model if chat_id is None else self._local_fallback(settings.model)

    def _lease(
        self,
        prepared: Prepared,
        progress: Progress,
        cancel: CancelToken,
        turn: Ticket,
        *,
        for_client: bool = False,
    ) -> Lease:
        if cancel.cancelled:
            raise Cancelled
        entry, options = prepared.entry, prepared.load_options
        return self._runtime.lease(entry, options, progress, cancel, turn, for_client=for_client)

    def _note_use(self, entry: ModelEntry, event: Event) -> None:
        if isinstance(event, Done) and self._leaves_traces:
            self._library.used(entry)

    def _ground(
        self,
        path: Sequence[StoredMessage],
        files: Sequence[AttachedFile],
        found: Sequence[FoundPassage],
        prepared: Prepared,
        model: Lease,
        cancel: CancelToken,
    ) -> Grounded:
        """Choose which files and passages go into the prompt of a path's answer."""

        def measure(sources: Sequence[PromptSource]) -> Measured:
            asked = (*path[:-1], replace(path[-1], sources=tuple(sources)))
            told = self._grounding.told(asked, files, taken_by(model.loaded))
            prompt = prompt_of(told, prepared.settings.system_prompt)
            return model.measure(replace(prepared.request, messages=prompt.messages), cancel)

        by_meaning = self._grounding.by_meaning(cancel)
        taken = taken_by(model.loaded)
        sources = choose(path[-2].text, files, measure, taken, found, by_meaning)
        return self._told_of(files, sources)

    def _with_files(
        self,
        request: ChatRequest,
        files: Sequence[AttachedFile],
        found: Sequence[FoundPassage],
        model: Lease,
        cancel: CancelToken,
    ) -> tuple[ChatRequest, Grounded]:
        """Put as much of the files and passages as fits into a request's last message."""
        documents = {file.document.sha256: file.document for file in files}
        documents |= self._grounding.documents({it.document for it in found} - documents.keys())
        *before, question = request.messages

        def told(sources: Sequence[PromptSource]) -> ChatRequest:
            text, media = prompt_message(question.text, sources, documents)
            moved = len(text) - len(question.text)
            own = (replace(it, at=it.at + moved) for it in question.media)
            asked = replace(question, text=text, media=(*media, *own))
            return replace(request, messages=(*before, asked))

        def measure(sources: Sequence[PromptSource]) -> Measured:
            return model.measure(told(sources), cancel)

        by_meaning, taken = self._grounding.by_meaning(cancel), taken_by(model.loaded)
        sources = choose(question.text, files, measure, taken, found, by_meaning)
        return told(sources), self._told_of(files, sources)

    def _told_of(
        self, files: Sequence[AttachedFile], sources: tuple[PromptSource, ...]
    ) -> Grounded:
        """Return the event for the sources in a prompt, from attached files and collections."""
        return Grounded(
            sources, tuple(share_of(it, sources) for it in self.files_of(sources, files))
        )

    def collections_of(self, options: AnswerOptions, chat_id: str) -> tuple[str, ...]:
        """Return the ids of the collections that ground an answer."""
        chosen = options.collections
        return self._layers.collections(chat_id) if chosen is None else chosen

    def _require_senses(
        self, attachments: Sequence[Attachment], taken: frozenset[MediaKind], prepared: Prepared
    ) -> None:
        require_senses(attachments, taken, prepared.entry, self._projector_of)

    def _ready(self, prepared: Prepared, model: Lease) -> Ready:
        """Make the event for a loaded model, with notes on settings that have no effect on it."""
        entry, settings = prepared.entry, prepared.settings
        differs = unmet(settings, entry.engine)
        return Ready(
            entry,
            replace(model.loaded, notes=(*model.loaded.notes, *differs)),
            settings.model,
            model.engine_name,
            prepared.load_options,
            self._why(entry, settings, max(1, self._wanted)),
        )

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count an answer as wanted, including while it waits for its turn."""
        with self._lock:
            self._wanted += 1
        try:
            yield
        finally:
            with self._lock:
                self._wanted -= 1
