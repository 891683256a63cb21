"""What other programs can ask: which models there are, and answers, vectors and tokens of them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from app.api.http.request import ApiRequest
from app.base.errors import ModelBusy, ModelUnknown
from app.chats.answers.services.answers import Answers, Prepared
from app.chats.answers.services.senses import expected_of, require_senses, taken_by
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
"""What clients send, as it is called where a model does not take it."""
_NAMED = 10
"""Models that are named to a client that asks for one that there is not."""
_LONG = 1 << 20
"""Bytes of a conversation from which on its tokens are counted before it takes a place."""


@dataclass(frozen=True)
class Access:
    """What a client may ask for. models: ids, names and aliases; none named is all of them."""

    client: str = ""
    models: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ApiModel:
    """A model that can be asked. called: its id, an alias of it, or the name of a LoRA adapter.

    adapter: the one that it answers with then. created: in s since 1970.
    """

    called: str
    entry: ModelEntry
    adapter: str = ""

    @property
    def created(self) -> int:
        return int(self.entry.verified or 0)


class ApiService:
    """Answers the requests of other programs with the runtime that the window uses.

    From any thread. Only models on this computer can be asked, and only by id, name or alias: no
    path leads from a request to a file, and none to another server. settings: as they are now.
    aliases: other names, and the models they stand for. guests: somebody else asks here as well,
    and comes first.
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
        self._answers = answers
        self._library = library
        self._runtime = runtime
        self._settings = settings
        self._aliases = aliases
        self._guests = guests

    def models(self, access: Access) -> list[ApiModel]:
        """List what a client may ask: by id, by alias, and adapters as if they were models."""
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
        """Return the names in metrics of the models that a client may ask; None for all."""
        if not access.models:
            return None
        return frozenset(public_name(it.entry) for it in self.models(access) if not it.adapter)

    def find(self, called: str, access: Access) -> ApiModel:
        """Find what answers to an id, a name, an alias or an adapter. Raises ModelUnknown."""
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
        """Answer a request, as often as it asks; yields each event with the answer's number.

        Raises ModelUnknown, ModelBusy, EngineError, SettingsInvalid; Cancelled.
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
        """Count the tokens of a request's prompt. Raises as `answer`."""
        prepared = self._prepared(request.model, request.options, access)
        asked = request.onto(prepared.request)
        self._require_senses(prepared, asked)
        return self._look_up(prepared, cancel, lambda it: it.measure(asked, cancel)).total

    def tokenize(
        self, model: str, text: str, access: Access, cancel: CancelToken, *, special: bool
    ) -> tuple[int, ...]:
        """Return a text's tokens. Raises as `answer`."""
        prepared = self._named(model, access)
        return self._look_up(
            prepared, cancel, lambda it: it.tokenize(text, cancel, special=special)
        )

    def detokenize(
        self, model: str, tokens: Sequence[int], access: Access, cancel: CancelToken
    ) -> str:
        """Return the text of tokens. Raises as `answer`."""
        prepared = self._named(model, access)
        return self._look_up(prepared, cancel, lambda it: it.detokenize(tokens, cancel))

    def embed(
        self,
        model: str,
        texts: Sequence[str | Sequence[int]],
        access: Access,
        cancel: CancelToken,
    ) -> Vectors:
        """Return the vectors of texts. Raises as `answer`."""
        with self._lease(self._named(model, access), cancel) as lease:
            return lease.embed(texts, cancel)

    def rerank(
        self, model: str, query: str, documents: Sequence[str], access: Access, cancel: CancelToken
    ) -> Ranking:
        """Judge how well documents answer a query. Raises as `answer`."""
        with self._lease(self._named(model, access), cancel) as lease:
            return lease.rerank(query, documents, cancel)

    def unload_idle(self) -> None:
        """Unload models that only programs have used, once they have not for a while."""
        if self._settings().server_idle:
            self._runtime.stop_idle_of_clients(self._rests_s())

    def _rests_s(self) -> float:
        """Return after how many seconds without use a model may leave; never is for ever."""
        return self._settings().server_idle * 60.0 or math.inf

    def _entries(self) -> list[ModelEntry]:
        return [it for it in self._library.entries() if not it.on_server]

    def _adapted(self) -> Iterator[ApiModel]:
        """Yield the LoRA adapters of the settings, each with the model that it answers with.

        That is the usual one, where its engine takes such adapters, or else one that is loaded.
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
        """Resolve the settings for a model, and see that it can be loaded now."""
        found = self.find(called, access)
        chosen = options(found.entry.id)
        if found.adapter:
            chosen = replace(chosen, settings={**chosen.settings, "adapter": found.adapter})
        prepared = self._answers.prepare(self._settings(), chosen)
        # What is loaded already is used as it is: a client causes no second load of it.
        held = self._runtime.held_options(prepared.entry)
        if held is not None:
            return replace(prepared, load_options=held)
        other = self._runtime.in_the_way(prepared.entry)
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
        """Refuse pictures and sounds that the model does not take. Raises MediaUnsupported."""
        kinds = {medium.kind for message in asked.messages for medium in message.media}
        loaded = next(
            (it.loaded for it in self._runtime.models() if it.entry == prepared.entry), None
        )
        taken = expected_of(prepared.entry) if loaded is None else taken_by(loaded)
        require_senses((_SENT[kind] for kind in sorted(kinds)), taken, prepared.entry, _no_offer)

    def _require_room(self, prepared: Prepared, asked: ChatRequest, cancel: CancelToken) -> None:
        """Refuse a conversation that is far too long while it holds up nobody else.

        To count the tokens of some takes seconds. Raises ContextFull, EngineError, Cancelled.
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
        """Prepare a model; without a name, the usual one, or the first that a client may ask."""
        if not called:
            called = self._settings().model
            may = self.models(access) if access.models else []
            if may and not any(called in {it.entry.id, it.entry.name} for it in may):
                called = may[0].called
        return self._prepared(called, _plain, access)

    def _look_up(
        self, prepared: Prepared, cancel: CancelToken, look: Callable[[Engine | Lease], T]
    ) -> T:
        """Ask a model for what needs no turn, loaded if need be: nobody's answer is waited for."""
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
    """Name the conversation that a request goes on with, for what was computed of it.

    Clients name none; each turn begins as the one before: with the same instructions and question.
    """
    first = next((it.text for it in request.messages if it.role != "system"), request.prompt)
    system = next((it.text for it in request.messages if it.role == "system"), "")
    said = json.dumps([access.client, system, first])
    return f"api-{hashlib.sha256(said.encode()).hexdigest()[:32]}"


def _may(access: Access, called: str, entry: ModelEntry) -> bool:
    return not access.models or not access.models.isdisjoint({called, entry.id, entry.name})


def _no_offer(_entry: ModelEntry) -> None:
    """Offer nothing: what a model lacks is got in Hearth, and not by its clients."""


def _plain(model: str) -> AnswerOptions:
    return AnswerOptions({"model": model})


def _unheard(_share: float) -> None:
    """Do nothing: no client is told how far a load is."""
