"""Finds the model and all settings for an answer, before anything is loaded."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from app.assistants.values.assistants import NewChat
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.local_fallback import LocalFallback
from app.chats.answers.services.missing_model import explaining_missing_model, require_file
from app.chats.answers.services.senses import OffersProjectors, expected_of, require_senses
from app.chats.answers.values.answers import AnswerOptions, Ready
from app.documents.values.documents import Attachment
from app.models.library.services.library import Library
from app.models.library.services.load_options import load_options_of, unmet
from app.models.library.values.entry import ModelEntry
from app.runtime.services.lease import Lease
from app.settings.values.fields import Settings
from app.settings.values.models import effective
from app.settings.values.resolved import SettingLayers, resolve
from engines.errors import EngineError, MediaUnsupported, UserError
from engines.memory.load_options import LoadOptions
from engines.types import ChatRequest, MediaKind, MtpMode


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


class PrefersEngine(Protocol):
    """Chooses between the engines for which the same model is installed; see `EngineChoice`."""

    def preferred(self, called: str, settings: Settings, answers: int = 1) -> str:
        """Return the id of the model that answers, on the engine that suits it best."""

    def why(self, entry: ModelEntry, settings: Settings, answers: int = 1) -> str:
        """Return a sentence saying why the model's engine was chosen; "" if the user chose it."""


class AsChosen:
    """Leaves every model on the engine that it was chosen for."""

    def preferred(self, called: str, _settings: Settings, _answers: int = 1) -> str:
        """Return the requested model unchanged."""
        return called

    def why(self, _entry: ModelEntry, _settings: Settings, _answers: int = 1) -> str:
        """Return "", as nothing was chosen."""
        return ""


class Preparing:
    """Prepares answers. Qt-free; usable from any thread.

    Args:
        engines: Chooses the engine where the user left it open.
        fallback: Keeps a stored chat without a chosen model on this computer; None uses the usual
            model in every chat.
        projectors: Looks up the projector for a model that lacks the one it needs to see.
        leaves_traces: Whether the engine can keep on disk what it computed for a chat, and the list
            of models records when each answered last.
    """

    def __init__(
        self,
        library: Library,
        layers: ChatLayers,
        engines: PrefersEngine | None = None,
        fallback: LocalFallback | None = None,
        projectors: OffersProjectors | None = None,
        *,
        leaves_traces: bool = True,
    ) -> None:
        self._library = library
        self._layers = layers
        self._engines = engines or AsChosen()
        self._fallback = fallback
        self._projectors = projectors
        self._leaves_traces = leaves_traces
        self._anyway: set[str] = set()
        self._lock = threading.Lock()
        self._answers = 0

    def prepare(
        self, settings: Settings, options: AnswerOptions, chat_id: str | None = None
    ) -> Prepared:
        """Find the model and all settings for an answer.

        Args:
            chat_id: The stored chat that the answer belongs to; None without a chat.

        Raises:
            ModelUnknown: The model is missing; the error says where it was chosen.
        """
        layers = options.under if chat_id is None else self._layers.of(chat_id)
        layers = replace(layers, message=options.settings)
        usual = self._usual(settings, chat_id)
        with explaining_missing_model(layers, layers.model or usual):
            chosen = resolve(settings, self._library.own, layers, lambda _: usual).settings
            entry = self._library.find(self._called(chosen, layers, usual == settings.model))
            require_file(entry)
        load_options = replace(
            load_options_of(chosen, entry.engine, options.depth),
            anyway=options.anyway or chosen.model in self._anyway,
        )
        request = _request(chosen, options, chat_id if self._leaves_traces else None)
        return Prepared(entry, chosen, load_options, request)

    def ready(self, prepared: Prepared, model: Lease) -> Ready:
        """Make the event for a loaded model, with notes on settings that have no effect on it."""
        entry, settings = prepared.entry, prepared.settings
        notes = (*model.loaded.notes, *unmet(settings, entry.engine))
        return Ready(
            entry,
            replace(model.loaded, notes=notes),
            settings.model,
            model.engine_name,
            prepared.load_options,
            self._engines.why(entry, settings, max(1, self._answers)),
        )

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count an answer as wanted, including while it waits for its turn.

        The choice of an engine depends on how many answers are wanted at once.
        """
        with self._lock:
            self._answers += 1
        try:
            yield
        finally:
            with self._lock:
                self._answers -= 1

    def note_use(self, entry: ModelEntry) -> None:
        """Note in the list of models that this one has answered."""
        if self._leaves_traces:
            self._library.used(entry)

    def load_anyway(self, model: str) -> None:
        """Load this model even if it does not seem to fit, for as long as Hearth is open."""
        self._anyway.add(model)

    def with_model(self, chat: NewChat, settings: Settings) -> NewChat:
        """Return a new chat's settings with the preferred engine's model, if none was chosen.

        With the engine on automatic, Hearth chooses it for each answer, and nothing changes here.
        """
        if chat.model is None or not chat.usual or settings.engine == "auto":
            return chat
        return replace(chat, model=self._engines.preferred(chat.model, settings, 1))

    def model_of(self, chat_id: str, settings: Settings) -> str:
        """Return the model that answers in a chat, under the name it was chosen by."""
        return self._layers.of(chat_id).model or self._usual(settings, chat_id)

    def withheld_model(self, chat_id: str, settings: Settings) -> str | None:
        """Return the usual model if it is withheld from a chat's text, else None.

        It is withheld if it runs on a server and the user has not chosen it for this chat.
        """
        is_open = self._layers.of(chat_id).model is None
        is_withheld = is_open and self._usual(settings, chat_id) != settings.model
        return settings.model if is_withheld else None

    def collections_of(self, options: AnswerOptions, chat_id: str) -> tuple[str, ...]:
        """Return the ids of the collections that ground an answer."""
        chosen = options.collections
        return self._layers.collections(chat_id) if chosen is None else chosen

    def usual_mtp(self, settings: Settings) -> MtpMode:
        """Return the MTP mode of a new chat, without waiting."""
        try:
            return effective(settings, self._library.own_when_listed(settings.model)).mtp
        except UserError:
            return settings.mtp

    def most_context(self, entry: ModelEntry) -> int:
        """Return the context a model was trained for, in tokens; 0 if its file cannot be read."""
        try:
            most = self._library.facts(entry).context_max
        except EngineError:
            return 0
        self._library.keep_facts()  # the next start need not read them again
        return most

    def require_senses(
        self, attachments: Sequence[Attachment], supported: frozenset[MediaKind], entry: ModelEntry
    ) -> None:
        """Refuse a picture or sound that the model does not take. Raises MediaUnsupported."""
        require_senses(attachments, supported, entry, self._projectors)

    def media_problem(
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
        entry = self.prepare(settings, options, chat_id).entry
        try:
            self.require_senses(attachments, expected_of(entry), entry)
        except MediaUnsupported as error:
            return error
        return None

    def _usual(self, settings: Settings, chat_id: str | None) -> str:
        """Return the model for a chat whose user has not chosen one."""
        if chat_id is None or self._fallback is None:
            return settings.model
        return self._fallback.model(settings.model)

    def _called(self, chosen: Settings, layers: SettingLayers, is_usual: bool) -> str:
        """Return the name of the model that answers: of the same model on the preferred engine.

        A model that the user chose for the chat or the message stays on its engine.

        Args:
            is_usual: Whether a chat without a chosen model gets the model of the settings.
        """
        began_with_it = layers.is_default_model and layers.message.get("model") is None
        if began_with_it or (layers.model is None and is_usual):
            return self._engines.preferred(chosen.model, chosen, max(1, self._answers))
        return chosen.model


def _request(chosen: Settings, options: AnswerOptions, chat_id: str | None) -> ChatRequest:
    """Make a request without messages from resolved settings."""
    budget = options.thinking_budget
    return ChatRequest(
        messages=(),
        sampling=replace(chosen.sampling, seed=options.seed, grammar=options.grammar),
        max_tokens=chosen.max_tokens or None,
        stop=options.stop,
        mtp=chosen.mtp,
        depth=options.depth,
        chat=chat_id,
        overflow="stop" if chosen.overflow == "stop" else "leave_out",
        thinking=None if chosen.thinking == "model" else chosen.thinking == "on",
        thinking_budget=chosen.thinking_budget or None if budget is None else budget,
        effort=None if chosen.effort == "model" else chosen.effort,
        adapter=chosen.adapter.strip() or None,
    )
