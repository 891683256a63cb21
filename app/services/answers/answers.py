"""Writing an answer: from the stored question to the last token, saved as it comes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

from app import __version__
from app.core.chats.asked import Asked, as_json, from_json, mark_of, prompt_hash
from app.core.chats.assistants import NewChat
from app.core.chats.conversation import (
    AnswerFacts,
    Failure,
    MessageState,
    OverflowPolicy,
    StoredMessage,
    path_to,
)
from app.core.chats.summary import prompt_of
from app.core.models.entry import ModelEntry
from app.core.settings.fields import Settings
from app.core.settings.models import OF_A_MODEL, effective
from app.core.settings.resolved import NO_LAYERS, Layers
from app.services.answers.chat_layers import ChatLayers
from app.services.answers.compacting import Compacting, Compaction
from app.services.answers.growing import GrowingAnswer
from app.services.answers.saving import Saving
from app.services.engines.lease import Lease
from app.services.engines.load_options import load_options_of, unmet
from app.services.engines.runtime import Runtime
from app.services.engines.turns import Ticket, Told
from app.services.models.about import about
from app.services.models.library import Library
from app.store.chats import ChatStore
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, UserError
from engines.memory.load_options import LoadOptions
from engines.types import (
    ChatRequest,
    Done,
    EngineName,
    Event,
    LoadedModel,
    Message,
    MtpMode,
    ReasoningDelta,
    Sampling,
    TextDelta,
    WasReasoning,
)


def asked_of(entry: ModelEntry, held: Settings, request: ChatRequest, loaded: LoadedModel) -> Asked:
    """All but the seed, which is drawn by the engine. A file that has just gone has no mark."""
    marks = []
    with contextlib.suppress(OSError):
        marks = [mark_of(path) for path in entry.files]
    return Asked(
        model=entry.id,
        name=entry.name,
        files=tuple(marks),
        sha256=entry.sha256 or "",
        settings={name: getattr(held, name) for name in (*OF_A_MODEL, "overflow")},
        context=loaded.context,
        stop=request.stop,
        grammar=request.sampling.grammar,
        depth=request.depth,
        thinking=request.thinking,
        thinking_budget=request.thinking_budget,
        effort=request.effort,
        overflow=request.overflow,
        prompt=prompt_hash(request.messages),
        hearth=__version__,
    )


def begun(answer: StoredMessage, asked: Asked) -> StoredMessage:
    """An answer that is about to be written, or continued: then it has one part more."""
    before = from_json(answer.asked)
    if before is None or not (answer.text or answer.reasoning):
        return replace(answer, asked=as_json(asked))
    wrote = [*before.before, *([] if before.edited else [before.name])]
    names = tuple(name for name, _ in groupby([*wrote, asked.name]))[:-1]
    more = replace(asked, parts=1 + before.parts, before=names)
    return replace(answer, asked=as_json(more))


def ended(
    answer: StoredMessage, done: Done, model: str, engine: str, notes: tuple[str, ...]
) -> StoredMessage:
    """An answer that has come to its end, whose seed is known. notes: of the loaded model."""
    state: MessageState = "stopped" if done.finish_reason == "cancelled" else "complete"
    facts = AnswerFacts(
        model=model,
        engine=engine,
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
        notes=tuple(dict.fromkeys((*notes, *done.notes))),
    )
    asked = from_json(answer.asked)
    mark = as_json(replace(asked, seed=done.seed)) if asked else answer.asked
    return replace(answer, state=state, facts=facts, asked=mark)


T = TypeVar("T")

GREEDY = Sampling(temperature=0.0)


@dataclass(frozen=True)
class AnswerOptions:
    """What differs from the settings for one answer; None means: as the settings say.

    chat: the stored chat that the answer belongs to; None for an answer without one.
    anyway: load the model even if it does not seem to fit.
    thinking_budget: tokens of reasoning; here 0 is none at all.
    under: what the chat and its assistant have set, where these options leave it open.
    begins: what a chat that begins with the question has of its own. settings: more, by name.
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
    overflow: OverflowPolicy | None = None
    thinking: bool | None = None
    thinking_budget: int | None = None
    effort: str | None = None
    adapter: str | None = None
    under: Layers = NO_LAYERS
    begins: NewChat | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def asked(self) -> Mapping[str, object]:
        """The settings among these, by their names."""
        return {
            "model": self.model,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "context": self.context,
            "max_tokens": self.max_tokens,
            "mtp": self.mtp,
            "system_prompt": self.system_prompt,
            "overflow": self.overflow,
            "thinking": None if self.thinking is None else "on" if self.thinking else "off",
            "effort": self.effort,
            "adapter": self.adapter,
            **self.settings,
        }

    @property
    def layers(self) -> Layers:
        """What holds over the settings."""
        return replace(self.under, message=self.asked)


@dataclass(frozen=True)
class Prepared:
    """What is to be loaded for an answer, and how it is asked for; the messages come later."""

    entry: ModelEntry
    held: Settings
    load_options: LoadOptions
    request: ChatRequest
    overflow: OverflowPolicy


@dataclass(frozen=True)
class Ready:
    """The model of an answer is loaded; comes before all that the engine says.

    called: the model as it was asked for, which may answer from its files for another engine.
    engine: by its own name. load_options: how it was to be loaded.
    """

    entry: ModelEntry
    loaded: LoadedModel
    called: str
    engine: str
    load_options: LoadOptions


@dataclass(frozen=True)
class Ended:
    """The last event of a stored answer: the message as it was saved, or could not be."""

    message: StoredMessage
    saved: bool = True


AnswerEvent = Event | Ready | Asked | Compaction | Ended


class Answers:
    """Qt-free; window and terminal both answer through it, each answer on a thread of its own.

    leaves_traces: the engine may keep on disk what it computed for a chat, and the list of models
    says when one has answered last. prefer: of a model that nobody has chosen for a chat and that
    is here for several engines, the one that is to answer, both by what they are called. stays: of
    the usual model, the one that answers in a stored chat for which nobody has chosen any.
    """

    def __init__(
        self,
        chats: ChatStore,
        library: Library,
        runtime: Runtime,
        layers: ChatLayers,
        compacting: Compacting,
        *,
        leaves_traces: bool = True,
        prefer: Callable[[str, Settings], str] = lambda called, _: called,
        stays: Callable[[str], str] = lambda called: called,
    ) -> None:
        self._chats = chats
        self._library = library
        self._runtime = runtime
        self._layers = layers
        self._compacting = compacting
        self._leaves_traces = leaves_traces
        self._prefer = prefer
        self._stays = stays

    def write(
        self,
        answer: StoredMessage,
        settings: Settings,
        options: AnswerOptions,
        progress: Progress,
        cancel: CancelToken,
        turn: Ticket | None = None,
    ) -> Iterator[AnswerEvent]:
        """Write the answer that the store holds in state "streaming"; ends with Ended.

        An answer that already has text is continued. Where the options leave MTP open, it is as
        the chat's switch stands. What can go wrong for a user is part of the ended message;
        nothing is raised for it. turn: its place in the line, left at the end; None joins now.
        """
        written, growing = answer, GrowingAnswer(answer)
        saving = Saving(self._chats)
        ready: Ready | None = None
        place = turn or self.turn()
        try:
            with place:
                path = path_to(self._chats.messages(answer.chat_id), answer.id)
                chosen = self.in_chat(answer.chat_id, settings, options)
                events = self._in_chat(path, settings, chosen, progress, cancel, place)
                with closing(events):
                    for event in events:
                        if isinstance(event, Ready):
                            ready = event
                        elif isinstance(event, Asked):
                            written = begun(written, event)
                        elif isinstance(event, TextDelta | ReasoningDelta | WasReasoning):
                            growing.take(event)
                        elif isinstance(event, Done) and ready is not None:
                            written = ended(
                                written, event, ready.entry.name, ready.engine, ready.loaded.notes
                            )
                        yield event
                        if written.state == "streaming" and saving.is_due:
                            saving.on_the_way(growing.onto(written))
        except Cancelled:
            written = replace(written, state="stopped")
        except UserError as error:
            failure = Failure.of(error)
            written = replace(written, state="failed", failure=failure)
        except BaseException:
            self._chats.save_answer(growing.onto(replace(written, state="interrupted")))
            raise
        growing.end()
        yield Ended(*saving.end(growing.onto(written)))

    def once(
        self,
        messages: tuple[Message, ...],
        settings: Settings,
        options: AnswerOptions,
        progress: Progress,
        cancel: CancelToken,
    ) -> Iterator[Event | Ready]:
        """Answer without the store. Raises EngineError, ModelUnknown or Cancelled."""
        prepared = self.prepare(settings, options)
        with self.turn() as turn, self._lease(prepared, progress, cancel, turn) as model:
            yield _ready(prepared, model)
            yield from self._say(model, prepared, messages, cancel)

    def turn(self, told: Told = lambda _: None) -> Ticket:
        """A place in the line at the engines, for an answer that is asked for now.

        From any thread; who has it gives it to `write` at once, or leaves it.
        """
        return self._runtime.turns.join(told)

    def in_chat(self, chat_id: str, settings: Settings, options: AnswerOptions) -> AnswerOptions:
        """These options with what the chat has of its own, where they leave it open."""
        return replace(
            options,
            mtp=_or(options.mtp, self._chats.mtp(chat_id)),
            chat=chat_id if self._leaves_traces else None,
            overflow=_or(options.overflow, self._compacting.policy(chat_id)),
            under=self._under(chat_id, settings),
        )

    def begin(self, chat: NewChat, settings: Settings) -> NewChat:
        """As it is kept: a model that nobody chose is the one for the engine that is preferred."""
        if chat.model is None or not chat.usual:
            return chat
        return replace(chat, model=self._prefer(chat.model, settings))

    def prepare(self, settings: Settings, options: AnswerOptions) -> Prepared:
        """From any thread. Raises ModelUnknown."""
        chosen = options.layers.model
        entry = self._library.find(chosen or self._prefer(settings.model, settings))
        held = self.settings_for(settings, options)
        request = ChatRequest(
            messages=(),
            sampling=replace(held.sampling, seed=options.seed, grammar=options.grammar),
            max_tokens=held.max_tokens or None,
            stop=options.stop,
            mtp=held.mtp,
            depth=options.depth,
            chat=options.chat,
            overflow="stop" if held.overflow == "stop" else "leave_out",
            thinking=None if held.thinking == "model" else held.thinking == "on",
            thinking_budget=_or(options.thinking_budget, held.thinking_budget or None),
            effort=None if held.effort == "model" else held.effort,
            adapter=held.adapter.strip() or None,
        )
        load_options = load_options_of(held, entry.engine, options.depth)
        load_options = replace(load_options, anyway=options.anyway)
        return Prepared(entry, held, load_options, request, held.overflow)

    def system_prompt(self, settings: Settings, options: AnswerOptions) -> str:
        """The one that holds for an answer. Raises ModelUnknown."""
        return self.settings_for(settings, options).system_prompt

    def settings_for(self, settings: Settings, options: AnswerOptions) -> Settings:
        """All that hold for an answer. Raises ModelUnknown."""
        called = options.layers.model or settings.model
        return self._library.settings_for(called, settings, options.layers)

    def model_of(self, chat_id: str, settings: Settings, options: AnswerOptions) -> str:
        """By what the model is called that an answer in this chat comes from."""
        return options.model or self._under(chat_id, settings).model or settings.model

    def kept_from(self, chat_id: str, settings: Settings) -> str | None:
        """The usual model, at a server, where this chat has not been sent to one by anybody."""
        stays = self._layers.of(chat_id).model is None
        return settings.model if stays and self._stays(settings.model) != settings.model else None

    def most_context(self, entry: ModelEntry) -> int:
        """Tokens that a model was trained for; 0 where its file cannot be read."""
        try:
            most = about(self._library, entry).context_max
        except EngineError:
            return 0
        self._library.keep_facts()  # the next start does without reading them
        return most

    def doing(self, engine: EngineName | None) -> str:
        """What an engine does to load a model, in words if it has any; from any thread."""
        worker = self._runtime.opened(engine) if engine else None
        stage = getattr(worker, "stage", None)
        return str(stage.words).partition(":")[0] if stage is not None else ""

    def usual_mtp(self, settings: Settings) -> MtpMode:
        """How the switch of a new chat stands, told at once."""
        try:
            return effective(settings, self._library.own_at_once(settings.model)).mtp
        except UserError:
            return settings.mtp

    def _under(self, chat_id: str, settings: Settings) -> Layers:
        """What holds in a chat, with the model that answers if it has none and is kept here."""
        layers = self._layers.of(chat_id)
        here = settings.model if layers.model else self._stays(settings.model)
        if here == settings.model:
            return layers
        return replace(layers, chat={**layers.chat, "model": here})

    def _in_chat(
        self,
        path: tuple[StoredMessage, ...],
        settings: Settings,
        options: AnswerOptions,
        progress: Progress,
        cancel: CancelToken,
        turn: Ticket,
    ) -> Generator[AnswerEvent, None, None]:
        """Answer the end of a path; where the chat wants it, older turns are summed up before."""
        prepared = self.prepare(settings, options)
        system_prompt = self.system_prompt(settings, options)
        with self._lease(prepared, progress, cancel, turn) as model:
            yield (ready := _ready(prepared, model))
            if prepared.overflow == "compact":
                fitted = yield from self._compacting.make_room(
                    model, path, system_prompt, prepared.request, cancel
                )
            else:
                fitted = prompt_of(path, system_prompt)
            request = replace(prepared.request, messages=fitted.messages)
            yield asked_of(prepared.entry, prepared.held, request, ready.loaded)
            yield from self._say(model, prepared, fitted.messages, cancel)

    def _lease(
        self, prepared: Prepared, progress: Progress, cancel: CancelToken, turn: Ticket
    ) -> Lease:
        if cancel.cancelled:
            raise Cancelled
        return self._runtime.lease(prepared.entry, prepared.load_options, progress, cancel, turn)

    def _say(
        self,
        model: Lease,
        prepared: Prepared,
        messages: tuple[Message, ...],
        cancel: CancelToken,
    ) -> Iterator[Event]:
        request = replace(prepared.request, messages=messages)
        for event in model.chat(request, cancel):
            if isinstance(event, Done) and self._leaves_traces:
                self._library.used(prepared.entry)
            yield event


def _ready(prepared: Prepared, model: Lease) -> Ready:
    """With what is set for another engine and has no effect here among its notes."""
    differs = unmet(prepared.held, prepared.entry.engine)
    loaded = replace(model.loaded, notes=(*model.loaded.notes, *differs))
    return Ready(
        prepared.entry, loaded, prepared.held.model, model.engine_name, prepared.load_options
    )


def _or(chosen: T | None, otherwise: T) -> T:
    return otherwise if chosen is None else chosen
