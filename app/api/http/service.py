"""The service behind the API: a list of models, and their answers, vectors and tokens."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from app.api.http.request import ApiRequest
from app.base.errors import ModelBusy, ModelUnknown
from app.chats.answers.services.answers import Answers
from app.chats.answers.services.preparing import Prepared
from app.chats.answers.services.senses import expected_of, require_senses, supported_by
from app.chats.answers.values.answers import AnswerOptions, Grounded, Ready
from app.documents.values.documents import Attachment, DocumentKind
from app.models.library.services.library import Library
from app.models.library.services.load_options import load_options_of
from app.models.library.values.entry import ModelEntry
from app.runtime.services.lease import Lease
from app.runtime.services.runtime import Runtime
from app.runtime.values.request_records import public_name
from app.settings.values.fields import Settings
from engines import conversation
from engines.base import Engine
from engines.cancel import CancelToken
from engines.overflow import full
from engines.types import ChatRequest, Event, MediaKind, Ranking, Vectors

T = TypeVar("T")

_SENT: Final[Mapping[MediaKind, Attachment]] = {
    "image": Attachment("an image of the request", "", DocumentKind.IMAGE, 0, 0),
    "audio": Attachment("a sound of the request", "", DocumentKind.AUDIO, 0, 0),
}
"""Media from clients, as errors name them if a model does not accept them."""
_NAMED = 10
"""Maximum number of models named in the error for an unknown model."""
_LONG = 1 << 20
"""Bytes of a conversation from which its tokens are counted before it waits for a turn."""


@dataclass(frozen=True)
class Access:
    """The rights of a client.

    Attributes:
        client: The client's id.
        models: Ids, names and aliases of models; empty for all models.
    """

    client: str = ""
    models: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ApiModel:
    """A model that clients can use.

    Attributes:
        called: Its id, an alias, or the name of a LoRA adapter.
        adapter: The adapter that it answers with; "" for none.
    """

    called: str
    entry: ModelEntry
    adapter: str = ""

    @property
    def created(self) -> int:
        """When the model was verified, in seconds since 1970; 0 if never."""
        return int(self.entry.verified or 0)


class ApiService:
    """Answers the requests of other programs with the runtime that the window uses.

    Safe from any thread. Only models on this computer can be used, and only by id, name or alias:
    no request leads to a file path or to another server.
    """

    def __init__(
        self,
        answers: Answers,
        library: Library,
        runtime: Runtime,
        settings: Callable[[], Settings],
        aliases: Callable[[], Mapping[str, str]] = dict,
        *,
        guests: bool = False,
    ) -> None:
        """Create the service.

        Args:
            settings: Returns the current settings.
            aliases: Returns other names, and the models they stand for.
            guests: A user of the window shares the runtime and goes first.
        """
        self._answers = answers
        self._library = library
        self._runtime = runtime
        self._settings = settings
        self._aliases = aliases
        self._guests = guests

    def models(self, access: Access) -> list[ApiModel]:
        """List the models a client can use: by id, by alias, and adapters as models."""
        entries = self._entries()
        named = {it.id: it for it in entries} | {it.name: it for it in reversed(entries)}
        listed = [ApiModel(it.id, it) for it in entries]
        for alias, called in self._aliases().items():
            if called in named:
                listed.append(ApiModel(alias, named[called]))
        taken = {it.called for it in listed} | named.keys()
        listed += [it for it in self._adapted() if it.called not in taken]
        return [it for it in listed if _may(access, it.called, it.entry)]

    def public_names(self, access: Access) -> frozenset[str] | None:
        """Return the metrics names of the models a client can use; None for all."""
        if not access.models:
            return None
        return frozenset(public_name(it.entry) for it in self.models(access) if not it.adapter)

    def find(self, called: str, access: Access) -> ApiModel:
        """Find the model with this id, name, alias or adapter name. Raises ModelUnknown."""
        aliases = self._aliases()
        wanted = aliases.get(called, called)
        for entry in self._entries():
            if wanted in {entry.id, entry.name} and _may(access, called, entry):
                return ApiModel(called, self._library.find(entry.id))
        for adapted in self._adapted():
            if wanted == adapted.called and _may(access, called, adapted.entry):
                return replace(adapted, entry=self._library.find(adapted.entry.id))
        there = [it.called for it in self.models(access)][:_NAMED]
        raise ModelUnknown(
            f"There is no model “{called[:100]}” here.",
            f"There are: {', '.join(there)}." if there else "None may be asked with this key.",
            "Ask for one of them, or give one this name in the settings of the server.",
        )

    def answer(
        self, request: ApiRequest, access: Access, cancel: CancelToken
    ) -> Iterator[tuple[int, Event | Ready | Grounded]]:
        """Answer a request as often as it asks; yield each event with its answer's number.

        Raises ModelUnknown, ModelBusy, EngineError, SettingsInvalid and Cancelled.
        """
        prepared = self._prepared(request.model, request.options, access)
        session = session_of(request.shaped, access)
        asked = replace(request.onto(prepared.request), chat=session, guest=self._guests)
        self._require_senses(prepared, asked)
        self._require_room(prepared, asked, cancel)
        whole = replace(prepared, request=asked)
        for number in range(request.count):
            events = self._answers.answer(whole, _unheard, cancel, for_client=True)
            for event in events:
                yield number, event
            if cancel.cancelled:
                return
            if whole.request.sampling.seed is not None:
                sampling = whole.request.sampling
                sampling = replace(sampling, seed=(sampling.seed or 0) + 1)
                whole = replace(whole, request=replace(whole.request, sampling=sampling))

    def count(self, request: ApiRequest, access: Access, cancel: CancelToken) -> int:
        """Count the tokens of a request's prompt. Raises as `answer` does."""
        prepared = self._prepared(request.model, request.options, access)
        asked = request.onto(prepared.request)
        self._require_senses(prepared, asked)
        return self._look_up(prepared, cancel, lambda it: it.measure(asked, cancel)).total

    def tokenize(
        self, model: str, text: str, access: Access, cancel: CancelToken, *, special: bool
    ) -> tuple[int, ...]:
        """Return a text's tokens. Raises as `answer` does."""
        prepared = self._named(model, access)
        return self._look_up(
            prepared, cancel, lambda it: it.tokenize(text, cancel, special=special)
        )

    def detokenize(
        self, model: str, tokens: Sequence[int], access: Access, cancel: CancelToken
    ) -> str:
        """Return the text of tokens. Raises as `answer` does."""
        prepared = self._named(model, access)
        return self._look_up(prepared, cancel, lambda it: it.detokenize(tokens, cancel))

    def embed(
        self,
        model: str,
        texts: Sequence[str | Sequence[int]],
        access: Access,
        cancel: CancelToken,
    ) -> Vectors:
        """Return the vectors of texts. Raises as `answer` does."""
        with self._lease(self._named(model, access), cancel) as lease:
            return lease.embed(texts, cancel)

    def rerank(
        self, model: str, query: str, documents: Sequence[str], access: Access, cancel: CancelToken
    ) -> Ranking:
        """Score how well documents answer a query. Raises as `answer` does."""
        with self._lease(self._named(model, access), cancel) as lease:
            return lease.rerank(query, documents, cancel)

    def unload_idle(self) -> None:
        """Unload models that only clients have used, and that have been idle for a while."""
        if self._settings().server_idle:
            self._runtime.stop_idle_of_clients(self._rests_s())

    def _rests_s(self) -> float:
        """Return the idle seconds after which a model can be unloaded; infinite for never."""
        return self._settings().server_idle * 60.0 or math.inf

    def _entries(self) -> list[ModelEntry]:
        return [it for it in self._library.entries() if not it.on_server]

    def _adapted(self) -> Iterator[ApiModel]:
        """Yield the LoRA adapters in the settings, each with the model that it answers with.

        These are the adapters of the default model and of the other models that are loaded.
        """
        settings = self._settings()
        held = {it.entry.id: it.load_options for it in self._runtime.models()}
        usual = [it for it in self._entries() if settings.model in {it.id, it.name}]
        others = [it for it in self._entries() if it.id in held and it not in usual]
        for base in (*usual[:1], *others):
            options = held.get(base.id) or load_options_of(settings, base.engine)
            for adapter in options.adapters:
                yield ApiModel(adapter.name, base, adapter.name)

    def _prepared(
        self, called: str, options: Callable[[str], AnswerOptions], access: Access
    ) -> Prepared:
        """Resolve the settings for a model, and check that it can be loaded now.

        Raises ModelUnknown and ModelBusy.
        """
        found = self.find(called, access)
        chosen = options(found.entry.id)
        if found.adapter:
            chosen = replace(chosen, settings={**chosen.settings, "adapter": found.adapter})
        prepared = self._answers.preparing.prepare(self._settings(), chosen)
        # A loaded model is used with the options it has: a client never causes a second load.
        held = self._runtime.loaded_options(prepared.entry)
        if held is not None:
            return replace(prepared, load_options=held)
        other = self._runtime.blocking_model(prepared.entry)
        if other is not None and self._runtime.idle_s(other.engine) < self._rests_s():
            if not _may(access, other.id, other):
                raise ModelBusy(
                    f"“{prepared.entry.name}” cannot be loaded just now.",
                    "Another model is in use in Hearth’s window, and only one has room.",
                    "Ask again later, or unload that one in Hearth first.",
                )
            raise ModelBusy(
                f"“{prepared.entry.name}” cannot be loaded just now.",
                f"“{other.name}” is in use in Hearth’s window, and only one has room.",
                f"Ask “{other.id}”, or unload it in Hearth first.",
            )
        return prepared

    def _require_senses(self, prepared: Prepared, asked: ChatRequest) -> None:
        """Refuse media that the model does not accept. Raises MediaUnsupported."""
        kinds = {medium.kind for message in asked.messages for medium in message.media}
        loaded = next(
            (it.loaded for it in self._runtime.models() if it.entry == prepared.entry), None
        )
        taken = expected_of(prepared.entry) if loaded is None else supported_by(loaded)
        # No projector is offered: the user gets missing parts of a model in Hearth, not a client.
        require_senses((_SENT[kind] for kind in sorted(kinds)), taken, prepared.entry)

    def _require_room(self, prepared: Prepared, asked: ChatRequest, cancel: CancelToken) -> None:
        """Refuse a conversation that is far too long before it holds up anyone else.

        Counting the tokens of a long one can take seconds. Raises ContextFull, EngineError and
        Cancelled.
        """
        said = asked.prompt if isinstance(asked.prompt, str) else ""
        if len(said) + len(asked.suffix) + sum(map(conversation.size, asked.messages)) < _LONG:
            return
        found = self._runtime.look_up(
            prepared.entry, prepared.load_options, lambda it: it.measure(asked, cancel)
        )
        if found is not None and found.total > found.context - found.kept:
            raise full(found.total, found.kept, found.context, counted=False)

    def _named(self, called: str, access: Access) -> Prepared:
        """Prepare a model; without a name, the default one, or the first the client can use."""
        if not called:
            called = self._settings().model
            may = self.models(access) if access.models else []
            if may and not any(called in {it.entry.id, it.entry.name} for it in may):
                called = may[0].called
        return self._prepared(called, _plain, access)

    def _look_up(
        self, prepared: Prepared, cancel: CancelToken, look: Callable[[Engine | Lease], T]
    ) -> T:
        """Ask a model for something that needs no turn; load the model if necessary."""
        found = self._runtime.look_up(prepared.entry, prepared.load_options, look)
        if found is not None:
            return found
        with self._lease(prepared, cancel) as lease:
            return look(lease)

    def _lease(self, prepared: Prepared, cancel: CancelToken) -> Lease:
        turn = self._runtime.queue.join(guest=self._guests)
        entry, options = prepared.entry, prepared.load_options
        return self._runtime.lease(entry, options, _unheard, cancel, turn, for_client=True)


def session_of(request: ChatRequest, access: Access) -> str:
    """Return a key for the conversation that a request continues, to find its KV cache.

    Clients send no such key, but every request of a conversation begins like the one before: with
    the same system message and first question.
    """
    first = next((it.text for it in request.messages if it.role != "system"), request.prompt)
    system = next((it.text for it in request.messages if it.role == "system"), "")
    said = json.dumps([access.client, system, first])
    return f"api-{hashlib.sha256(said.encode()).hexdigest()[:32]}"


def _may(access: Access, called: str, entry: ModelEntry) -> bool:
    return not access.models or not access.models.isdisjoint({called, entry.id, entry.name})


def _plain(model: str) -> AnswerOptions:
    return AnswerOptions({"model": model})


def _unheard(_share: float) -> None:
    """Do nothing: clients are not told the progress of a load."""
