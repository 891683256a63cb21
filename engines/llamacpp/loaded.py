"""A loaded model with everything made from it: context, scheduler, slots and reasoning markers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Final

from engines.base import Progress
from engines.cancel import CancelToken
from engines.dialect import Dialect
from engines.errors import Cancelled, EngineFailed
from engines.llamacpp.cache import KvCache, open_caches
from engines.llamacpp.context import AbortFlag, Context
from engines.llamacpp.model import Model
from engines.llamacpp.native import BINDINGS_VERSION, Native, give_back_memory
from engines.llamacpp.projector import Projector
from engines.llamacpp.prompt_media import PromptMedia
from engines.llamacpp.prompting import Prompt, Prompter
from engines.llamacpp.resume.records import StateKey, StateRecord
from engines.llamacpp.resume.state_key import adapted_key, state_key
from engines.llamacpp.resume.states import StateFolder
from engines.llamacpp.sampling import ChainSampler
from engines.llamacpp.scheduler import Scheduler
from engines.llamacpp.speculative import mtp_status as truth
from engines.llamacpp.speculative.calibration import measure_costs
from engines.llamacpp.speculative.cost_book import CostBook
from engines.llamacpp.speculative.costs import Costs, SharedCosts
from engines.llamacpp.speculative.drafting import Drafting, Draftings, open_draftings
from engines.llamacpp.speculative.speculation import Speculation
from engines.models.gguf.header import GgufHeader
from engines.models.pairing import mtp_advice
from engines.sentences import N_
from engines.types import ChatRequest, LoadedModel, LoadPlan, MtpMode, Sampling

logger = logging.getLogger(__name__)

_A_TURN: Final = 8
"""Every so many answers, the next drafter in turn drafts one, however little it promises."""


class AnswerSlot:
    """A sequence of the context in which one answer at a time is written.

    Attributes:
        cache: The KV cache of the sequence.
        drafting: The drafting of the sequence.
        able: One `Speculation` for each drafter, the plan's drafter first; empty if nothing can be
            evaluated on trial.
        speculation: The one that drafts the current answer. None if there is none, or if the
            current context has no room for drafts (see `Loaded.suit`).
        busy: Whether an answer is being written.
        used: The number of the last answer, counted over all slots.
    """

    def __init__(
        self, cache: KvCache, drafting: Draftings, able: Sequence[Speculation], flag: AbortFlag
    ) -> None:
        self.cache = cache
        self.drafting = drafting
        self.able = tuple(able)
        self.speculation: Speculation | None = next(iter(self.able), None)
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
        if len(self.able) < 2 or self.speculation is None:
            return
        self._answers += 1
        best = max(self.able, key=lambda it: it.promise(mode))
        turn, in_turn = divmod(self._answers, _A_TURN)
        chosen = best if in_turn else self.able[turn % len(self.able)]
        if chosen is not self.speculation:
            self.speculation.rest()
            self.speculation = chosen

    def rest(self) -> None:
        """Let the context keep nothing for this slot's drafter while no answer is written here."""
        if self.speculation is not None:
            self.speculation.rest()

    def settle(
        self, context: Context, record: StateRecord | None, drafting: Draftings, *, drafts: bool
    ) -> None:
        """Continue in another context with the state that was lifted from the previous one.

        Args:
            context: The new context.
            record: The lifted state; None if there was nothing to take.
            drafting: The drafting of the new context.
            drafts: Whether the new context has room for drafts.
        """
        self.drafting = drafting
        self.drafting.watch(self._flag)
        self.cache.settle(context, record, drafting)
        if drafts:
            for able, each in zip(self.able, drafting.each, strict=True):
                able.attach(each)
        self.speculation = self.able[0] if drafts else None


@dataclass
class Loaded:
    """A model with everything made from it; `close` frees all in the only safe order.

    `prepare_loaded` creates it.

    Attributes:
        markers: The tokens that separate reasoning from the answer, with their texts.
        slots: One slot for each answer that can be written at the same time.
        costs: The measured costs of each drafter.
        costs_keys: The key under which each drafter's measured costs are kept.
        lost: Whether the context could not be created again; then only `close` is allowed.
    """

    native: Native
    model: Model
    header: GgufHeader
    plan: LoadPlan
    dialect: Dialect
    markers: dict[int, str]
    context: Context
    scheduler: Scheduler
    slots: tuple[AnswerSlot, ...]
    prompter: Prompter
    projector: Projector | None
    report: LoadedModel
    costs: tuple[Costs, ...]
    book: CostBook
    costs_keys: tuple[str, ...]

    def __post_init__(self) -> None:
        self._used = 0
        self.lost = False

    def known(self, chat: str | None) -> list[list[int]]:
        """Return the evaluated tokens of this chat's sequences."""
        return self.slots[0].cache.known(chat)

    @property
    def guesses_by_model(self) -> bool:
        """Whether something other than the text itself can draft for this model."""
        return any(it.drafter is not None for it in self.slots[0].able)

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
        with self.scheduler.alone():
            if self.lost:
                raise EngineFailed(
                    N_("There is nothing to answer with."),
                    N_("The model did not fit the memory any more, and was unloaded."),
                    N_("Choose a model."),
                )
            mode = "off" if prompt.media and self.guesses_by_model else request.mtp
            if not any(slot.busy for slot in self.slots):
                self.suit(mode)
            adapter = request.adapter or ""
            slot = self._choose(prompt.tokens, request.chat, adapter)
            if request.judges_prompt:
                slot.cache.begin_anew(request.chat, adapter)
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
        having = [
            slot
            for slot in free
            if (slot.cache.chat == chat and chat is not None)
            or not slot.cache.loses(prompt, adapter)
        ]
        best = max(having, key=lambda slot: slot.cache.keeps(prompt, adapter), default=None)
        if best is not None and best.cache.keeps(prompt, adapter):
            return best
        return min(free, key=lambda slot: slot.used if slot.cache.tokens else -1)

    def suit(self, mode: MtpMode) -> None:
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
        if not first.able or not self.model.recurrent or self.context.marks:
            return
        hopeless = all(it.hopeless for it in first.able)
        drafts = mode == "on" or (mode == "auto" and not hopeless)
        if drafts == (first.speculation is not None):
            return
        self.lost = True
        records = [slot.cache.lift() for slot in self.slots]
        for slot in reversed(self.slots):
            slot.drafting.close()
        self.context.close()
        plan = self.plan if drafts else replace(self.plan, draft_max=0)
        self.context = Context(self.native, self.model, plan, least_batch=self.context.batch_size)
        self.scheduler.go_on_in(self.context)
        draftings = open_draftings(
            self.native, self.header, self.model, self.context, plan, lambda _: None, CancelToken()
        )
        for slot, record, drafting in zip(self.slots, records, draftings, strict=True):
            slot.settle(self.context, record, drafting, drafts=drafts)
        self.lost = False

    def close(self) -> None:
        """Save the chats' states and the measured costs, then free everything."""
        try:
            for slot in self.slots:
                slot.cache.put_away()
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
            give_back_memory()


def prepare_loaded(
    native: Native,
    model: Model,
    header: GgufHeader,
    plan: LoadPlan,
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
    vocabulary = model.vocabulary
    with ExitStack() as opened:
        dialect = Dialect(
            model.chat_template,
            bos=vocabulary.text(vocabulary.bos),
            eos=vocabulary.eos_text,
            control=vocabulary.control_texts,
            added=vocabulary.user_defined_texts,
            trusted=trusted,
        )
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
        device = _device(native, plan)
        costs_keys = tuple(
            f"{header.name} {header.quantisation} {header.size_bytes} {drafter}"
            f" {plan.kv_type} {device} {plan.threads} {plan.repack} {BINDINGS_VERSION}"
            + (f" {plan.gpu_layers} {plan.experts_in_ram}" if plan.gpu_layers else "")
            for drafter in (plan.drafter, "head")[: len(draftings[0].each)]
        )
        advice = plan.mtp_note or mtp_advice(header)

        def measure(each: Drafting) -> Costs:
            sampler = ChainSampler(native, vocabulary.size, Sampling(), seed=1, prior=())
            with closing(sampler):
                return measure_costs(context, caches[0], each, sampler, cancel)

        costs = tuple(
            _costs(book.costs(key), context.drafts, partial(measure, each), cancel)
            for key, each in zip(costs_keys, draftings[0].each, strict=True)
            if context.drafts
        )
        shared = [SharedCosts(alone) for alone in costs]

        def slot(cache: KvCache, drafting: Draftings) -> AnswerSlot:
            able = [
                Speculation(
                    each,
                    its,
                    context.drafts,
                    vocabulary.ends_generation,
                    advice,
                    repeats=context.marks,
                )
                for its, each in zip(shared, drafting.each, strict=bool(shared))
            ]
            return AnswerSlot(cache, drafting, able, scheduler.flag)

        slots = tuple(map(slot, caches, draftings))
        first = slots[0].speculation
        if cancel.cancelled:
            raise Cancelled
        switch = dialect.switch
        loaded = Loaded(
            native=native,
            model=model,
            header=header,
            plan=plan,
            dialect=dialect,
            markers={
                token: text
                for text in dialect.markers
                if (token := vocabulary.token_of(text)) is not None
            },
            context=context,
            scheduler=scheduler,
            slots=slots,
            prompter=Prompter(dialect, vocabulary, context.size, projector),
            projector=projector,
            report=LoadedModel(
                name=header.name,
                architecture=header.architecture,
                parameters=model.parameters,
                size_bytes=header.size_bytes,
                context=context.size,
                context_trained=model.context_trained,
                device=device,
                load_s=perf_counter() - began,
                mtp=first.kind if first else "none",
                mtp_line=first.standing if first else advice,
                thinking=switch.kind,
                thinks=switch.thinks,
                efforts=switch.efforts,
                effort=switch.effort,
                answers_at_once=context.sequences,
                notes=(plan.projector_note,) if plan.projector_note else (),
                sees=projector is not None and projector.sees,
                hears=projector is not None and projector.hears,
            ),
            costs=costs,
            book=book,
            costs_keys=costs_keys[: len(costs)],
        )
        opened.pop_all()
        return loaded


def _costs(
    known: Costs | None, drafts: int, measure: Callable[[], Costs], cancel: CancelToken
) -> Costs:
    """Return the known costs of checking so many drafts, or measure them.

    Costs with which drafts cannot win are measured again, because nothing else would ever correct
    them.
    """
    costs = known if known is not None and known.limit == drafts else measure()
    return measure() if truth.cannot_win(costs) and not cancel.cancelled else costs


def _state_key(native: Native, model: Model, context: Context, plan: LoadPlan) -> StateKey | None:
    """Return the key of this load's saved states; None if it cannot be read."""
    try:
        return state_key(native, model, context, plan)
    except OSError as error:
        logger.warning("no state is kept of %s: %s", plan.model.name, error)
        return None


def _adapted_keys(key: StateKey | None, plan: LoadPlan) -> dict[str, StateKey]:
    """Return the key of this load's saved states for each adapter that can be read."""
    found = {}
    if key is not None:
        for adapter in plan.adapters:
            with suppress(OSError):
                found[adapter.name] = adapted_key(key, adapter.path)
    return found


def _device(native: Native, plan: LoadPlan) -> str:
    """Return the names of the devices that the model runs on."""
    if not plan.gpu_layers:
        return "CPU"
    cards = [device for device in native.devices() if device.is_card]
    named = [card for card in cards if card.name in plan.devices] or cards
    return ", ".join(card.description for card in named) or "CPU"
