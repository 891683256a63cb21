"""A loaded model with everything made from it: context, scheduler, slots and reasoning markers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Final

from engines.base import Progress
from engines.cancel import CancelToken
from engines.dialect import Dialect
from engines.errors import Cancelled, EngineFailed
from engines.llamacpp.cache import KvCache, open_caches
from engines.llamacpp.context import AbortFlag, Context
from engines.llamacpp.model import Model
from engines.llamacpp.native import BINDINGS_VERSION, Native, release_freed_memory
from engines.llamacpp.projector import Projector
from engines.llamacpp.prompt_media import PromptMedia
from engines.llamacpp.prompting import Prompt, Prompter
from engines.llamacpp.resume.records import StateKey, StateRecord
from engines.llamacpp.resume.state_key import adapted_key, state_key
from engines.llamacpp.resume.states import StateFolder
from engines.llamacpp.sampling import ChainSampler
from engines.llamacpp.scheduler import Scheduler
from engines.llamacpp.speculative import mtp_status
from engines.llamacpp.speculative.calibration import measure_costs
from engines.llamacpp.speculative.cost_book import CostBook
from engines.llamacpp.speculative.costs import Costs, SharedCosts
from engines.llamacpp.speculative.drafting import Drafting, Draftings, open_draftings
from engines.llamacpp.speculative.speculation import Speculation
from engines.models.gguf.header import GgufHeader
from engines.models.pairing import mtp_advice
from engines.sentences import N_
from engines.types import ChatRequest, LlamaPlan, LoadedModel, MtpMode, Sampling

logger = logging.getLogger(__name__)

_TURN_EVERY: Final = 8
"""Every so many answers, the next drafter in turn drafts one, however little it promises."""


class AnswerSlot:
    """A sequence of the context in which one answer at a time is written.

    Attributes:
        cache: The KV cache of the sequence.
        drafting: The drafting of the sequence.
        speculations: One `Speculation` for each drafter, the plan's drafter first; empty if nothing
            can be evaluated on trial.
        speculation: The one that drafts the current answer. None if there is none, or if the
            current context has no room for drafts (see `Loaded.switch_context`).
        busy: Whether an answer is being written.
        used: The number of the last answer, counted over all slots.
    """

    def __init__(
        self,
        cache: KvCache,
        drafting: Draftings,
        speculations: Sequence[Speculation],
        flag: AbortFlag,
    ) -> None:
        self.cache = cache
        self.drafting = drafting
        self.speculations = tuple(speculations)
        self.speculation: Speculation | None = next(iter(self.speculations), None)
        self.busy = False
        self.used = 0
        self._flag = flag
        self._answers = 0
        self.drafting.watch(flag)

    def begin(self, mode: MtpMode, depth: int | None) -> Speculation | None:
        """Start the drafting of an answer; return its `Speculation`, or None without drafts."""
        if mode != "off":
            self._choose(mode)
        if self.speculation is None:
            return None
        self.speculation.begin(mode, depth, self.cache.tokens)
        return self.speculation if self.speculation.drafts(mode) else None

    def _choose(self, mode: MtpMode) -> None:
        """Choose the drafter of the next answer: the most promising, and regularly each in turn."""
        if len(self.speculations) < 2 or self.speculation is None:
            return
        self._answers += 1
        best = max(self.speculations, key=lambda speculation: speculation.promise(mode))
        turn, in_turn = divmod(self._answers, _TURN_EVERY)
        chosen = best if in_turn else self.speculations[turn % len(self.speculations)]
        if chosen is not self.speculation:
            self.speculation.rest()
            self.speculation = chosen

    def rest(self) -> None:
        """Let the context keep nothing for this slot's drafter while no answer is written here."""
        if self.speculation is not None:
            self.speculation.rest()

    def attach(
        self, context: Context, record: StateRecord | None, drafting: Draftings, *, drafts: bool
    ) -> None:
        """Continue in another context with the state that was detached from the previous one.

        Args:
            context: The new context.
            record: The detached state; None if there was nothing to take.
            drafting: The drafting of the new context.
            drafts: Whether the new context has room for drafts.
        """
        self.drafting = drafting
        self.drafting.watch(self._flag)
        self.cache.attach(context, record, drafting)
        if drafts:
            for speculation, each in zip(self.speculations, drafting.each, strict=True):
                speculation.attach(each)
        self.speculation = self.speculations[0] if drafts else None


@dataclass
class Loaded:
    """A model with everything made from it; `close` frees all in the only safe order.

    `prepare_loaded` creates it.

    Attributes:
        markers: The tokens that separate reasoning from the answer, with their texts.
        slots: One slot for each answer that can be written at the same time.
        costs: The measured costs of each drafter.
        costs_keys: The key under which each drafter's measured costs are kept.
        advice: A sentence on what could draft for this model.
        load_s: How long the load took, in seconds.
        report: The facts about the loaded model.
        lost: Whether the context could not be created again; then only `close` is allowed.
    """

    native: Native
    model: Model
    header: GgufHeader
    plan: LlamaPlan
    dialect: Dialect
    markers: dict[int, str]
    context: Context
    scheduler: Scheduler
    slots: tuple[AnswerSlot, ...]
    prompter: Prompter
    projector: Projector | None
    costs: tuple[Costs, ...]
    book: CostBook
    costs_keys: tuple[str, ...]
    advice: str
    load_s: float

    def __post_init__(self) -> None:
        self._used = 0
        self.lost = False
        self.report = self._describe()

    def _describe(self) -> LoadedModel:
        switch = self.dialect.switch
        drafts = self.slots[0].speculation
        return LoadedModel(
            name=self.header.name,
            architecture=self.header.architecture,
            parameters=self.model.parameters,
            size_bytes=self.header.size_bytes,
            context=self.context.size,
            context_trained=self.model.context_trained,
            device=device_name(self.native, self.plan),
            load_s=self.load_s,
            mtp=drafts.kind if drafts else "none",
            mtp_line=drafts.standing if drafts else self.advice,
            thinking=switch.kind,
            thinks=switch.thinks,
            efforts=switch.efforts,
            effort=switch.effort,
            answers_at_once=self.context.sequences,
            notes=(self.plan.projector_note,) if self.plan.projector_note else (),
            sees=self.projector is not None and self.projector.sees,
            hears=self.projector is not None and self.projector.hears,
        )

    def known(self, chat: str | None) -> list[list[int]]:
        """Return the evaluated tokens of this chat's sequences."""
        return self.slots[0].cache.known(chat)

    @property
    def has_model_drafter(self) -> bool:
        """True if something other than the text itself can draft for this model."""
        return any(speculation.drafter is not None for speculation in self.slots[0].speculations)

    def media_of(self, prompt: Prompt) -> PromptMedia | None:
        """Return the prompt's pictures and sounds, ready to be encoded; None if it has none."""
        if self.projector is None or not prompt.media:
            return None
        return PromptMedia(self.projector, prompt.tokens, prompt.media)

    @contextmanager
    def slot(
        self, prompt: Prompt, request: ChatRequest
    ) -> Iterator[tuple[AnswerSlot, Speculation | None]]:
        """Reserve a slot for one answer, with a cache that holds as much of the prompt as it can.

        A drafter that is a model reads only tokens: after a picture, its guesses would rest on
        something else, so it does not draft there.

        Yields:
            The slot, and the `Speculation` of this answer; None without drafts.

        Raises:
            NotEnoughMemory: The context does not fit in memory. If `lost` is set, close the model.
            EngineFailed: llama.cpp failed. If `lost` is set, close the model.
        """
        with self.scheduler.exclusive():
            if self.lost:
                raise EngineFailed(
                    N_("There is no model to answer with."),
                    N_("The model no longer fitted in memory, so it was unloaded."),
                    N_("Choose a model."),
                )
            mode = "off" if prompt.media and self.has_model_drafter else request.mtp
            if not any(slot.busy for slot in self.slots):
                self.switch_context(mode)
            adapter = request.adapter or ""
            slot = self._choose(prompt.tokens, request.chat, adapter)
            if request.judges_prompt:
                slot.cache.start_empty(request.chat, adapter)
            else:
                slot.cache.reuse(prompt.tokens, request.chat, adapter)
            speculation = slot.begin(mode, request.depth)
            slot.busy = True
            for other in self.slots:
                if not other.busy:
                    other.rest()
            self._used += 1
            slot.used = self._used
        try:
            yield slot, speculation
        finally:
            slot.busy = False

    def _choose(self, prompt: Sequence[int], chat: str | None, adapter: str) -> AnswerSlot:
        """Choose the free slot that holds most of the prompt.

        Only slots that belong to the chat or would lose little else count. If none of them holds
        any of the prompt, choose an empty slot, or else the one that was used longest ago. Tokens
        of the prompt that only another slot holds are copied.
        """
        free = [slot for slot in self.slots if not slot.busy]
        candidates = [
            slot
            for slot in free
            if (slot.cache.chat == chat and chat is not None)
            or not slot.cache.loses_much(prompt, adapter)
        ]
        best = max(
            candidates, key=lambda slot: slot.cache.kept_tokens(prompt, adapter), default=None
        )
        if best is not None and best.cache.kept_tokens(prompt, adapter):
            return best
        return min(free, key=lambda slot: slot.used if slot.cache.tokens else -1)

    def switch_context(self, mode: MtpMode) -> None:
        """Switch a recurrent model to a context with or without room for drafts, as `mode` needs.

        Keeping the state after each token costs a recurrent model copies at each evaluation, a few
        per cent of the time even if nothing is drafted. So an answer without drafts gets a context
        without this room; the change takes a fraction of a second. Marking a state costs nothing
        unless it is used, so models with marks never change. No answer may be in progress.

        Raises:
            NotEnoughMemory: The new context does not fit in memory; this must be closed.
            EngineFailed: llama.cpp cannot create the new context; this must be closed.
        """
        first = self.slots[0]
        if not first.speculations or not self.model.recurrent or self.context.marks:
            return
        hopeless = all(speculation.hopeless for speculation in first.speculations)
        drafts = mode == "on" or (mode == "auto" and not hopeless)
        if drafts == (first.speculation is not None):
            return
        self.lost = True
        records = [slot.cache.detach() for slot in self.slots]
        for slot in reversed(self.slots):
            slot.drafting.close()
        self.context.close()
        plan = self.plan if drafts else replace(self.plan, draft_max=0)
        self.context = Context(self.native, self.model, plan, least_batch=self.context.batch_size)
        self.scheduler.use_context(self.context)
        draftings = open_draftings(
            self.native, self.header, self.model, self.context, plan, lambda _: None, CancelToken()
        )
        for slot, record, drafting in zip(self.slots, records, draftings, strict=True):
            slot.attach(self.context, record, drafting, drafts=drafts)
        self.lost = False

    def close(self) -> None:
        """Save the chats' states and the measured costs, then free everything."""
        try:
            for slot in self.slots:
                slot.cache.save_to_disk()
            for key, costs in zip(self.costs_keys, self.costs, strict=True):
                if not costs.corrected:
                    self.book.keep(key, costs)
        finally:
            self.scheduler.close()
            self.dialect.close()
            for slot in reversed(self.slots):
                slot.drafting.close()
            self.context.close()
            if self.projector is not None:
                self.projector.close()
            self.model.close()
            release_freed_memory()


def prepare_loaded(
    native: Native,
    model: Model,
    header: GgufHeader,
    plan: LlamaPlan,
    book: CostBook,
    states: StateFolder | None,
    progress: Progress,
    cancel: CancelToken,
    began: float,
    *,
    trusted: bool = False,
    projector: Projector | None = None,
) -> Loaded:
    """Create everything that answers need from a model, and own the model and its projector.

    Args:
        native: The llama.cpp library.
        model: The loaded model.
        header: The model's header.
        plan: The plan that it was loaded with.
        book: Measured costs of drafting; missing ones are measured now.
        states: Saved states from which chats continue.
        progress: Receives the progress of loading a drafter.
        cancel: Ends the load.
        began: Start of the load, by `time.perf_counter`.
        trusted: Whether the model came with Hearth.
        projector: The projector for pictures and sounds, if there is one.

    Raises:
        TemplateFailed: The chat template cannot be used.
        NotEnoughMemory: The context does not fit in memory.
        EngineFailed: llama.cpp failed.
        Cancelled: `cancel` was set.
        EngineError: Any other error of opening a drafter. After every error, the caller must close
            the model.
    """
    with ExitStack() as opened:
        dialect = _open_dialect(model, trusted=trusted)
        opened.callback(dialect.close)
        model.load_adapters(plan.adapters)
        rows = projector.most_rows if projector is not None else 0
        context = Context(native, model, plan, least_batch=rows)
        opened.callback(context.close)
        scheduler = Scheduler(context)
        opened.callback(scheduler.close)
        draftings = open_draftings(native, header, model, context, plan, progress, cancel)
        for drafting in draftings:
            opened.callback(drafting.close)
        key = _state_key(native, model, context, plan) if states is not None else None
        caches = open_caches(
            native.api,
            context,
            model,
            memory_bytes=plan.kept_bytes,
            folder=states,
            key=key,
            keys=_adapted_keys(key, plan),
            drafting=draftings,
        )
        drafters = draftings[0].each if context.drafts else ()
        costs_keys = _costs_keys(native, header, plan)[: len(drafters)]
        costs = tuple(
            _known_or_measured(book.get(key), each, native, model, context, caches[0], cancel)
            for key, each in zip(costs_keys, drafters, strict=True)
        )
        advice = plan.mtp_note or mtp_advice(header)
        slots = _make_slots(model, context, scheduler.flag, caches, draftings, costs, advice)
        if cancel.cancelled:
            raise Cancelled
        loaded = Loaded(
            native=native,
            model=model,
            header=header,
            plan=plan,
            dialect=dialect,
            markers={
                token: text
                for text in dialect.markers
                if (token := model.vocabulary.token_of(text)) is not None
            },
            context=context,
            scheduler=scheduler,
            slots=slots,
            prompter=Prompter(dialect, model.vocabulary, context.size, projector),
            projector=projector,
            costs=costs,
            book=book,
            costs_keys=costs_keys,
            advice=advice,
            load_s=perf_counter() - began,
        )
        opened.pop_all()
        return loaded


def _open_dialect(model: Model, *, trusted: bool) -> Dialect:
    """Open the model's chat template, with the texts of its tokens. Raises TemplateFailed."""
    vocabulary = model.vocabulary
    return Dialect(
        model.chat_template,
        bos=vocabulary.text(vocabulary.bos),
        eos=vocabulary.eos_text,
        control=vocabulary.control_texts,
        added=vocabulary.user_defined_texts,
        trusted=trusted,
    )


def _costs_keys(native: Native, header: GgufHeader, plan: LlamaPlan) -> tuple[str, ...]:
    """Return the keys of the costs of the plan's drafter, or "None", and of the model's head."""
    device = device_name(native, plan)
    placed = f" {plan.gpu_layers} {plan.experts_in_ram}" if plan.gpu_layers else ""
    return tuple(
        f"{header.name} {header.quantisation} {header.size_bytes} {drafter}"
        f" {plan.kv_type} {device} {plan.threads} {plan.repack} {BINDINGS_VERSION}"
        f"{placed}"
        for drafter in (plan.drafter, "head")
    )


def _known_or_measured(
    known: Costs | None,
    drafting: Drafting,
    native: Native,
    model: Model,
    context: Context,
    cache: KvCache,
    cancel: CancelToken,
) -> Costs:
    """Return the known costs of checking this drafter's guesses in this context, or measure them.

    Costs with which drafts cannot win are measured again, because nothing else would ever correct
    them.
    """

    def measure() -> Costs:
        sampler = ChainSampler(native, model.vocabulary.size, Sampling(), seed=1, prior=())
        with closing(sampler):
            return measure_costs(context, cache, drafting, sampler, cancel)

    costs = known if known is not None and known.limit == context.drafts else measure()
    return measure() if mtp_status.cannot_win(costs) and not cancel.cancelled else costs


def _make_slots(
    model: Model,
    context: Context,
    flag: AbortFlag,
    caches: Sequence[KvCache],
    draftings: Sequence[Draftings],
    costs: Sequence[Costs],
    advice: str,
) -> tuple[AnswerSlot, ...]:
    """Make a slot for each sequence; without costs, the slots do not draft."""
    shared = [SharedCosts(single) for single in costs]

    def speculations(drafting: Draftings) -> list[Speculation]:
        ends = model.vocabulary.ends_generation
        return [
            Speculation(each, cost, context.drafts, ends, advice, repeats=context.marks)
            for cost, each in zip(shared, drafting.each, strict=bool(shared))
        ]

    return tuple(
        AnswerSlot(cache, drafting, speculations(drafting), flag)
        for cache, drafting in zip(caches, draftings, strict=True)
    )


def _state_key(native: Native, model: Model, context: Context, plan: LlamaPlan) -> StateKey | None:
    """Return the key of this load's saved states; None if it cannot be read."""
    try:
        return state_key(native, model, context, plan)
    except OSError as error:
        logger.warning("no state is kept of %s: %s", plan.model.name, error)
        return None


def _adapted_keys(key: StateKey | None, plan: LlamaPlan) -> dict[str, StateKey]:
    """Return the key of this load's saved states for each adapter that can be read."""
    found = {}
    if key is not None:
        for adapter in plan.adapters:
            with suppress(OSError):
                found[adapter.name] = adapted_key(key, adapter.path)
    return found


def device_name(native: Native, plan: LlamaPlan) -> str:
    """Return the names of the devices that the model runs on."""
    if not plan.gpu_layers:
        return "CPU"
    cards = [device for device in native.devices() if device.is_card]
    named = [card for card in cards if card.name in plan.devices] or cards
    return ", ".join(card.description for card in named) or "CPU"
