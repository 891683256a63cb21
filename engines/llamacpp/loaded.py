"""A loaded model with all that is made from it: context, cache, drafter, sampler's markers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from time import perf_counter

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
from engines.llamacpp.speculative.drafting import Drafting, open_drafting
from engines.llamacpp.speculative.speculation import Speculation
from engines.models.gguf.header import GgufHeader
from engines.models.pairing import mtp_advice
from engines.types import LoadedModel, LoadPlan, MtpMode, Sampling

logger = logging.getLogger(__name__)


@dataclass
class Loaded:
    """A model with all that is made from it; `close` frees it in the one order that is safe.

    `prepare_loaded` makes one. markers: the tokens that tell reasoning from answer, with their
    texts. speculation: what drafts; None where nothing can be evaluated on trial, or where the
    present context has no room for it (see `suit`). costs_key: what a measurement of its costs
    holds for.
    """

    native: Native
    model: Model
    header: GgufHeader
    plan: LoadPlan
    dialect: Dialect
    markers: dict[int, str]
    context: Context
    drafting: Drafting
    cache: KvCache
    prompter: Prompter
    report: LoadedModel
    speculation: Speculation | None
    book: CostBook
    costs_key: str

    def __post_init__(self) -> None:
        self._able = self.speculation

    def suit(self, mode: MtpMode) -> None:
        """Have room for drafts in a recurrent model's state, or the speed of a state without.

        To keep its state after each token costs such a model copies at each evaluation, a few per
        cent of the time even where nothing is drafted. So an answer that drafts nothing gets a
        context without; changing it takes a fraction of a second. A state that is marked costs
        nothing where it is not.
        Raises NotEnoughMemory or EngineFailed; then this must be closed.
        """
        able = self._able
        if able is None or not self.model.recurrent or self.context.marks:
            return
        drafts = mode == "on" or (mode == "auto" and not able.hopeless)
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
        able.attach(self.drafting)
        self.speculation = able if drafts else None

    def close(self) -> None:
        try:
            self.cache.put_away()
            if self._able is not None and not self._able.costs.corrected:
                self.book.keep(self.costs_key, self._able.costs)
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
        costs_key = (
            f"{header.name} {header.quantisation} {header.size_bytes} {plan.drafter}"
            f" {plan.kv_type} {device} {plan.threads} {plan.repack} {BINDINGS_VERSION}"
            + (f" {plan.gpu_layers} {plan.experts_in_ram}" if plan.gpu_layers else "")
        )
        advice = plan.mtp_note or mtp_advice(header)
        speculation = None
        if context.drafts:

            def measure() -> Costs:
                sampler = ChainSampler(native, vocabulary.size, Sampling(), seed=1, prior=())
                with closing(sampler):
                    return measure_costs(context, cache, drafting, sampler, cancel)

            costs = _costs(book.costs(costs_key), context.drafts, measure, cancel)
            ends = vocabulary.ends_generation
            speculation = Speculation(
                drafting, costs, context.drafts, ends, advice, repeats=context.marks
            )
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
                mtp=speculation.kind if speculation else "none",
                mtp_line=speculation.standing if speculation else advice,
                thinking=switch.kind,
                thinks=switch.thinks,
                efforts=switch.efforts,
                effort=switch.effort,
            ),
            speculation=speculation,
            book=book,
            costs_key=costs_key,
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
