"""A loaded model with all that is made from it: context, cache, drafter, sampler's markers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Final

from engines.base import Progress
from engines.cancel import CancelToken
from engines.dialect import Dialect
from engines.errors import Cancelled
from engines.llamacpp.cache import KvCache
from engines.llamacpp.context import Context
from engines.llamacpp.model import Model
from engines.llamacpp.native import BINDINGS_VERSION, Native, give_back_memory
from engines.llamacpp.prompting import Prompter
from engines.llamacpp.resume.records import StateKey
from engines.llamacpp.resume.state_key import state_key
from engines.llamacpp.resume.states import StateFolder
from engines.llamacpp.sampling import ChainSampler
from engines.llamacpp.speculative import mtp_status as truth
from engines.llamacpp.speculative.calibration import measure_costs
from engines.llamacpp.speculative.cost_book import CostBook
from engines.llamacpp.speculative.costs import Costs
from engines.llamacpp.speculative.drafting import Drafting, Draftings, open_drafting
from engines.llamacpp.speculative.speculation import Speculation
from engines.models.gguf.header import GgufHeader
from engines.models.pairing import mtp_advice
from engines.types import LoadedModel, LoadPlan, MtpMode, Sampling

logger = logging.getLogger(__name__)

_A_TURN: Final = 8
"""Of so many answers one is drafted by each in turn, however little it promises."""


@dataclass
class Loaded:
    """A model with all that is made from it; `close` frees it in the one order that is safe.

    `prepare_loaded` makes one. markers: the tokens that tell reasoning from answer, with their
    texts. able: what drafts, one for each drafter; the first is the plan's. None where nothing can
    be evaluated on trial. speculation: the one that drafts the present answer; None where none can,
    or where the present context has no room for it (see `suit`). costs_keys: what a measurement of
    the costs of each holds for.
    """

    native: Native
    model: Model
    header: GgufHeader
    plan: LoadPlan
    dialect: Dialect
    markers: dict[int, str]
    context: Context
    drafting: Draftings
    cache: KvCache
    prompter: Prompter
    report: LoadedModel
    able: tuple[Speculation, ...]
    book: CostBook
    costs_keys: tuple[str, ...]

    def __post_init__(self) -> None:
        self.speculation: Speculation | None = next(iter(self.able), None)
        self._answers = 0

    def choose(self, mode: MtpMode) -> None:
        """Choose what drafts the next answer: who promises most, each now and then in its turn."""
        if len(self.able) < 2 or self.speculation is None:
            return
        self._answers += 1
        best = max(self.able, key=lambda it: it.promise(mode))
        turn, in_turn = divmod(self._answers, _A_TURN)
        chosen = best if in_turn else self.able[turn % len(self.able)]
        if chosen is not self.speculation:
            self.speculation.rest()
            self.speculation = chosen

    def suit(self, mode: MtpMode) -> None:
        """Have room for drafts in a recurrent model's state, or the speed of a state without.

        To keep its state after each token costs such a model copies at each evaluation, a few per
        cent of the time even where nothing is drafted. So an answer that drafts nothing gets a
        context without; changing it takes a fraction of a second. A state that is marked costs
        nothing where it is not.
        Raises NotEnoughMemory or EngineFailed; then this must be closed.
        """
        if not self.able or not self.model.recurrent or self.context.marks:
            return
        hopeless = all(it.hopeless for it in self.able)
        drafts = mode == "on" or (mode == "auto" and not hopeless)
        if drafts == (self.speculation is not None):
            return
        record = self.cache.lift()
        self.drafting.close()
        self.context.close()
        plan = self.plan if drafts else replace(self.plan, draft_max=0)
        self.context = Context(self.native, self.model, plan)
        self.drafting = open_drafting(
            self.native, self.header, self.model, self.context, plan, lambda _: None, CancelToken()
        )
        self.cache.settle(self.context, record, self.drafting)
        if drafts:
            for able, drafting in zip(self.able, self.drafting.each, strict=True):
                able.attach(drafting)
        self.speculation = self.able[0] if drafts else None

    def close(self) -> None:
        try:
            self.cache.put_away()
            for key, able in zip(self.costs_keys, self.able, strict=True):
                if not able.costs.corrected:
                    self.book.keep(key, able.costs)
        finally:
            self.dialect.close()
            self.drafting.close()
            self.context.close()
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
) -> Loaded:
    """Make all that answers need of a model, and own it from then on.

    book: measured costs; what is missing there is measured now. states: where chats go on from.
    began: when the load began, by `time.perf_counter`. trusted: the model came with Hearth.
    Raises TemplateFailed, NotEnoughMemory, EngineFailed, what opening a drafter may raise and
    Cancelled; then the model is the caller's to close.
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
        context = Context(native, model, plan)
        opened.callback(context.close)
        drafting = open_drafting(native, header, model, context, plan, progress, cancel)
        opened.callback(drafting.close)
        cache = KvCache(
            native.api,
            context,
            model,
            memory_bytes=plan.kept_bytes,
            folder=states,
            key=_state_key(native, model, context, plan) if states is not None else None,
            drafting=drafting,
        )
        device = _device(native, plan)
        costs_keys = tuple(
            f"{header.name} {header.quantisation} {header.size_bytes} {drafter}"
            f" {plan.kv_type} {device} {plan.threads} {plan.repack} {BINDINGS_VERSION}"
            + (f" {plan.gpu_layers} {plan.experts_in_ram}" if plan.gpu_layers else "")
            for drafter in (plan.drafter, "head")[: len(drafting.each)]
        )
        advice = plan.mtp_note or mtp_advice(header)

        def measure(each: Drafting) -> Costs:
            sampler = ChainSampler(native, vocabulary.size, Sampling(), seed=1, prior=())
            with closing(sampler):
                return measure_costs(context, cache, each, sampler, cancel)

        able = tuple(
            Speculation(
                each,
                _costs(book.costs(key), context.drafts, partial(measure, each), cancel),
                context.drafts,
                vocabulary.ends_generation,
                advice,
                repeats=context.marks,
            )
            for key, each in zip(costs_keys, drafting.each, strict=True)
            if context.drafts
        )
        first = able[0] if able else None
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
            drafting=drafting,
            cache=cache,
            prompter=Prompter(dialect, vocabulary, context.size),
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
            ),
            able=able,
            book=book,
            costs_keys=costs_keys[: len(able)],
        )
        opened.pop_all()
        return loaded


def _costs(
    known: Costs | None, drafts: int, measure: Callable[[], Costs], cancel: CancelToken
) -> Costs:
    """Return the costs of checking so many drafts that were measured before, or measure them.

    A curve by which drafts cannot win is measured again: nothing else would ever correct it.
    """
    costs = known if known is not None and known.limit == drafts else measure()
    return measure() if truth.cannot_win(costs) and not cancel.cancelled else costs


def _state_key(native: Native, model: Model, context: Context, plan: LoadPlan) -> StateKey | None:
    """Name what states of this load depend on; None where that cannot be read."""
    try:
        return state_key(native, model, context, plan)
    except OSError as error:
        logger.warning("no state is kept of %s: %s", plan.model.name, error)
        return None


def _device(native: Native, plan: LoadPlan) -> str:
    """Name what the model runs on, in words."""
    if not plan.gpu_layers:
        return "CPU"
    cards = [device for device in native.devices() if device.is_card]
    named = [card for card in cards if card.name in plan.devices] or cards
    return ", ".join(card.description for card in named) or "CPU"
