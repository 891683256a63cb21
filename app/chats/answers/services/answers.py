"""Writes answers, from the stored question to the last token."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from app.chats.answers.services.grounding import Grounding, Path
from app.chats.answers.services.in_progress import AnswerInProgress, record_of
from app.chats.answers.services.preparing import Prepared, Preparing
from app.chats.answers.services.senses import expected_of, supported_by
from app.chats.answers.values.answers import AnswerEvent, AnswerOptions, Grounded, Ready
from app.chats.context.services.compacting import Compacting
from app.chats.context.values.summary import prompt_of
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage, path_to
from app.documents.values.documents import AttachedFile
from app.runtime.services.lease import Lease
from app.runtime.services.queue import Ticket, WaitListener
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Cancelled, UserError
from engines.types import ChatRequest, Done, EngineName, Event, Measured, Message


class Answers:
    """Writes answers for window and terminal alike, on the thread of the caller. Qt-free.

    The parts of the work: `Preparing` finds the model and the settings, `Runtime` loads and lends
    the model, `Grounding` puts files and collections into the prompt, `Compacting` makes room in
    it, and `AnswerInProgress` saves the growing text.

    Attributes:
        preparing: Finds the model and all settings for an answer.
    """

    def __init__(
        self,
        chats: ChatStore,
        preparing: Preparing,
        runtime: Runtime,
        compacting: Compacting,
        grounding: Grounding,
    ) -> None:
        self.preparing = preparing
        self._chats = chats
        self._runtime = runtime
        self._compacting = compacting
        self._grounding = grounding

    def begin(
        self, answer: StoredMessage, waits: WaitListener = lambda _: None
    ) -> AnswerInProgress:
        """Join the queue for an answer requested now, and return the answer in progress.

        Callable from any thread. The caller must pass the result to `write` at once, or release its
        ticket.

        Args:
            waits: Called with the reason the answer waits.
        """
        return AnswerInProgress(self._chats, answer, self._runtime.queue.join(waits))

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
        preparing = self.preparing
        try:
            with writing.ticket as ticket, preparing.counting():
                path = path_to(self._chats.messages(answer.chat_id), answer.id)
                prepared = preparing.prepare(settings, options, answer.chat_id)
                attached = [
                    attachment for message in path[-2:] for attachment in message.attachments
                ]
                preparing.require_senses(attached, expected_of(prepared.entry), prepared.entry)
                with self._lease(prepared, progress, cancel, ticket) as model:
                    ready = preparing.ready(prepared, model)
                    yield writing.record(ready)
                    supported = supported_by(ready.loaded)
                    preparing.require_senses(attached, supported, prepared.entry)
                    if not answer.sources:
                        collections = preparing.collections_of(options, answer.chat_id)
                        grounded = self._ground(path, collections, prepared, model, cancel)
                        if grounded is not None:
                            path = (*path[:-1], replace(path[-1], sources=grounded.sources))
                            yield writing.record(grounded)
                    path = self._grounding.with_sources(path, supported=supported)
                    system_prompt = prepared.settings.system_prompt
                    if prepared.settings.overflow == "compact":
                        prompt = yield from self._compacting.free_space(
                            model, path, system_prompt, prepared.request, cancel
                        )
                    else:
                        prompt = prompt_of(path, system_prompt)
                    request = replace(prepared.request, messages=prompt.messages)
                    record = record_of(prepared.entry, prepared.settings, request, ready.loaded)
                    yield writing.record(record)
                    stop = prepared.settings.stop_repetition
                    with closing(model.chat(request, cancel, stop_repetition=stop)) as events:
                        for event in events:
                            self._note_use(prepared, event)
                            yield writing.record(event)
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
        prepared = self.preparing.prepare(settings, options)
        prepared = replace(prepared, request=replace(prepared.request, messages=messages))
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
        request, entry, preparing = prepared.request, prepared.entry, self.preparing
        attached = [file.attachment for file in files]
        preparing.require_senses(attached, expected_of(entry), entry)
        with (
            self._runtime.queue.join(guest=request.guest) as ticket,
            self._lease(prepared, progress, cancel, ticket, for_client=for_client) as model,
        ):
            yield preparing.ready(prepared, model)
            supported = supported_by(model.loaded)
            preparing.require_senses(attached, supported, entry)

            def measure(request: ChatRequest) -> Measured:
                return model.measure(request, cancel)

            found = self._grounding.ground_request(
                request, files, collections, supported, measure, cancel
            )
            if found is not None:
                request, grounded = found
                yield grounded
            stop = prepared.settings.stop_repetition
            with closing(model.chat(request, cancel, stop_repetition=stop)) as events:
                for event in events:
                    self._note_use(prepared, event)
                    yield event

    def doing(self, engine: EngineName | None) -> str:
        """Return an engine's current step of loading a model, or "". Callable from any thread."""
        return self._runtime.status(engine).words if engine else ""

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

    def _ground(
        self,
        path: Path,
        collections: Sequence[str],
        prepared: Prepared,
        model: Lease,
        cancel: CancelToken,
    ) -> Grounded | None:
        """Choose which files and passages go into the prompt of a path's answer."""

        def measure(path: Path) -> Measured:
            prompt = prompt_of(path, prepared.settings.system_prompt)
            return model.measure(replace(prepared.request, messages=prompt.messages), cancel)

        supported = supported_by(model.loaded)
        return self._grounding.ground_path(path, collections, supported, measure, cancel)

    def _note_use(self, prepared: Prepared, event: Event) -> None:
        if isinstance(event, Done):
            self.preparing.note_use(prepared.entry)
