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

_MEDIA_NAMES: Final[Mapping[MediaKind, Attachment]] = {
    "image": Attachment("an image of the request", "", DocumentKind.IMAGE, 0, 0),
    "audio": Attachment("a sound of the request", "", DocumentKind.AUDIO, 0, 0),
}
"""Media from clients, as errors name them if a model does not accept them."""
_MOST_LISTED = 10
"""Maximum number of models named in the error for an unknown model."""
_COUNT_FROM_BYTES = 1 << 20
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
        name: Its id, an alias, or the name of a LoRA adapter.
        adapter: The adapter that it answers with; "" for none.
    """

    name: str
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
        by_name = {model.id: model for model in entries} | {
            model.name: model for model in reversed(entries)
        }
        api_models = [ApiModel(model.id, model) for model in entries]
        for alias, name in self._aliases().items():
            if name in by_name:
                api_models.append(ApiModel(alias, by_name[name]))
        names = {model.name for model in api_models} | by_name.keys()
        api_models += [model for model in self._adapter_models() if model.name not in names]
        return [model for model in api_models if _is_allowed(access, model.name, model.entry)]

    def public_names(self, access: Access) -> frozenset[str] | None:
        """Return the metrics names of the models a client can use; None for all."""
        if not access.models:
            return None
        return frozenset(
            public_name(model.entry) for model in self.models(access) if not model.adapter
        )

    def find(self, name: str, access: Access) -> ApiModel:
        """Find the model with this id, name, alias or adapter name. Raises ModelUnknown."""
        aliases = self._aliases()
        target = aliases.get(name, name)
        for entry in self._entries():
            if target in {entry.id, entry.name} and _is_allowed(access, name, entry):
                return ApiModel(name, self._library.find(entry.id))
        for adapted in self._adapter_models():
            if target == adapted.name and _is_allowed(access, name, adapted.entry):
                return replace(adapted, entry=self._library.find(adapted.entry.id))
        names = [model.name for model in self.models(access)][:_MOST_LISTED]
        raise ModelUnknown(
            f"There is no model “{name[:100]}” here.",
            f"The models are: {', '.join(names)}." if names else "This key allows no model.",
            "Use one of them, or give one this name in the settings of the server.",
        )

    def answer(
        self, request: ApiRequest, access: Access, cancel: CancelToken
    ) -> Iterator[tuple[int, Event | Ready | Grounded]]:
        """Answer a request as often as it asks; yield each event with its answer's number.

        Raises ModelUnknown, ModelBusy, EngineError, SettingsInvalid and Cancelled.
        """
        prepared = self._prepare(request.model, request.options, access)
        session = session_of(request.engine_request, access)
        engine_request = replace(
            request.apply_to(prepared.request), chat=session, guest=self._guests
        )
        self._require_senses(prepared, engine_request)
        self._require_room(prepared, engine_request, cancel)
        prepared_answer = replace(prepared, request=engine_request)
        for number in range(request.count):
            events = self._answers.answer(
                prepared_answer, _ignore_progress, cancel, for_client=True
            )
            for event in events:
                yield number, event
            if cancel.cancelled:
                return
            if prepared_answer.request.sampling.seed is not None:
                sampling = prepared_answer.request.sampling
                sampling = replace(sampling, seed=(sampling.seed or 0) + 1)
                prepared_answer = replace(
                    prepared_answer, request=replace(prepared_answer.request, sampling=sampling)
                )

    def count(self, request: ApiRequest, access: Access, cancel: CancelToken) -> int:
        """Count the tokens of a request's prompt. Raises as `answer` does."""
        prepared = self._prepare(request.model, request.options, access)
        engine_request = request.apply_to(prepared.request)
        self._require_senses(prepared, engine_request)
        return self._query(
            prepared, cancel, lambda engine: engine.measure(engine_request, cancel)
        ).total

    def tokenize(
        self, model: str, text: str, access: Access, cancel: CancelToken, *, special: bool
    ) -> tuple[int, ...]:
        """Return a text's tokens. Raises as `answer` does."""
        prepared = self._prepare_without_options(model, access)
        return self._query(
            prepared, cancel, lambda engine: engine.tokenize(text, cancel, special=special)
        )

    def detokenize(
        self, model: str, tokens: Sequence[int], access: Access, cancel: CancelToken
    ) -> str:
        """Return the text of tokens. Raises as `answer` does."""
        prepared = self._prepare_without_options(model, access)
        return self._query(prepared, cancel, lambda engine: engine.detokenize(tokens, cancel))

    def embed(
        self,
        model: str,
        texts: Sequence[str | Sequence[int]],
        access: Access,
        cancel: CancelToken,
    ) -> Vectors:
        """Return the vectors of texts. Raises as `answer` does."""
        with self._lease(self._prepare_without_options(model, access), cancel) as lease:
            return lease.embed(texts, cancel)

    def rerank(
        self, model: str, query: str, documents: Sequence[str], access: Access, cancel: CancelToken
    ) -> Ranking:
        """Score how well documents answer a query. Raises as `answer` does."""
        with self._lease(self._prepare_without_options(model, access), cancel) as lease:
            return lease.rerank(query, documents, cancel)

    def unload_idle(self) -> None:
        """Unload models that only clients have used, and that have been idle for a while."""
        if self._settings().server_idle:
            self._runtime.stop_idle_of_clients(self._idle_limit_s())

    def _idle_limit_s(self) -> float:
        """Return the idle seconds after which a model can be unloaded; infinite for never."""
        return self._settings().server_idle * 60.0 or math.inf

    def _entries(self) -> list[ModelEntry]:
        return [entry for entry in self._library.entries() if not entry.on_server]

    def _adapter_models(self) -> Iterator[ApiModel]:
        """Yield the LoRA adapters in the settings, each with the model that it answers with.

        These are the adapters of the default model and of the other models that are loaded.
        """
        settings = self._settings()
        load_options = {model.entry.id: model.load_options for model in self._runtime.models()}
        default = [entry for entry in self._entries() if settings.model in {entry.id, entry.name}]
        others = [
            entry for entry in self._entries() if entry.id in load_options and entry not in default
        ]
        for base in (*default[:1], *others):
            options = load_options.get(base.id) or load_options_of(settings, base.engine)
            for adapter in options.adapters:
                yield ApiModel(adapter.name, base, adapter.name)

    def _prepare(
        self, name: str, options: Callable[[str], AnswerOptions], access: Access
    ) -> Prepared:
        """Resolve the settings for a model, and check that it can be loaded now.

        Raises ModelUnknown and ModelBusy.
        """
        model = self.find(name, access)
        answer_options = options(model.entry.id)
        if model.adapter:
            answer_options = replace(
                answer_options, settings={**answer_options.settings, "adapter": model.adapter}
            )
        prepared = self._answers.preparing.prepare(self._settings(), answer_options)
        # A loaded model is used with the options it has: a client never causes a second load.
        load_options = self._runtime.loaded_options(prepared.entry)
        if load_options is not None:
            return replace(prepared, load_options=load_options)
        other = self._runtime.blocking_model(prepared.entry)
        if other is not None and self._runtime.idle_s(other.engine) < self._idle_limit_s():
            if not _is_allowed(access, other.id, other):
                raise ModelBusy(
                    f"“{prepared.entry.name}” cannot be loaded just now.",
                    "Another model is in use in Hearth’s window, and there is room for only one.",
                    "Try again later, or unload that model in Hearth first.",
                )
            raise ModelBusy(
                f"“{prepared.entry.name}” cannot be loaded just now.",
                f"“{other.name}” is in use in Hearth’s window, and there is room for only one.",
                f"Use “{other.id}”, or unload it in Hearth first.",
            )
        return prepared

    def _require_senses(self, prepared: Prepared, engine_request: ChatRequest) -> None:
        """Refuse media that the model does not accept. Raises MediaUnsupported."""
        kinds = {medium.kind for message in engine_request.messages for medium in message.media}
        loaded = next(
            (model.loaded for model in self._runtime.models() if model.entry == prepared.entry),
            None,
        )
        accepted = expected_of(prepared.entry) if loaded is None else supported_by(loaded)
        # No projector is offered: the user gets missing parts of a model in Hearth, not a client.
        require_senses((_MEDIA_NAMES[kind] for kind in sorted(kinds)), accepted, prepared.entry)

    def _require_room(
        self, prepared: Prepared, engine_request: ChatRequest, cancel: CancelToken
    ) -> None:
        """Refuse a conversation that is far too long before it holds up anyone else.

        Counting the tokens of a long one can take seconds. Raises ContextFull, EngineError and
        Cancelled.
        """
        text = engine_request.prompt if isinstance(engine_request.prompt, str) else ""
        if (
            len(text)
            + len(engine_request.suffix)
            + sum(map(conversation.size, engine_request.messages))
            < _COUNT_FROM_BYTES
        ):
            return
        use = self._runtime.look_up(
            prepared.entry,
            prepared.load_options,
            lambda engine: engine.measure(engine_request, cancel),
        )
        if use is not None and use.total > use.context - use.kept:
            raise full(use.total, use.kept, use.context, counted=False)

    def _prepare_without_options(self, name: str, access: Access) -> Prepared:
        """Prepare a model; without a name, the default one, or the first the client can use."""
        if not name:
            name = self._settings().model
            allowed = self.models(access) if access.models else []
            if allowed and not any(name in {model.entry.id, model.entry.name} for model in allowed):
                name = allowed[0].name
        return self._prepare(name, _model_options, access)

    def _query(
        self, prepared: Prepared, cancel: CancelToken, query: Callable[[Engine | Lease], T]
    ) -> T:
        """Ask a model for something that needs no turn; load the model if necessary."""
        result = self._runtime.look_up(prepared.entry, prepared.load_options, query)
        if result is not None:
            return result
        with self._lease(prepared, cancel) as lease:
            return query(lease)

    def _lease(self, prepared: Prepared, cancel: CancelToken) -> Lease:
        turn = self._runtime.queue.join(guest=self._guests)
        entry, options = prepared.entry, prepared.load_options
        return self._runtime.lease(entry, options, _ignore_progress, cancel, turn, for_client=True)


def session_of(request: ChatRequest, access: Access) -> str:
    """Return a key for the conversation that a request continues, to find its KV cache.

    Clients send no such key, but every request of a conversation begins like the one before: with
    the same system message and first question.
    """
    first = next(
        (message.text for message in request.messages if message.role != "system"), request.prompt
    )
    system = next((message.text for message in request.messages if message.role == "system"), "")
    text = json.dumps([access.client, system, first])
    return f"api-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _is_allowed(access: Access, name: str, entry: ModelEntry) -> bool:
    return not access.models or not access.models.isdisjoint({name, entry.id, entry.name})


def _model_options(model: str) -> AnswerOptions:
    return AnswerOptions({"model": model})


def _ignore_progress(_share: float) -> None:
    """Do nothing: clients are not told the progress of a load."""
