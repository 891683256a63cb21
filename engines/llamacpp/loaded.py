"""A model together with all that is made from it."""

from __future__ import annotations

import logging
from contextlib import ExitStack, closing
from dataclasses import replace
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
from engines.llamacpp.speculative.drafting import open_drafting
from engines.llamacpp.speculative.speculation import Speculation
from engines.models.gguf.header import GgufHeader
from engines.models.pairing import mtp_advice
from engines.types import LoadedModel, LoadPlan, MtpMode, Sampling

logger = logging.getLogger(__name__)


class Loaded:
    """Owns `model` from the moment it is made; `close` frees in the one order that is safe.

    began: when the load began, by `time.perf_counter`. trusted: the model came with Hearth.
    speculation: None where nothing can be
    evaluated on trial, or where the present context has no room for it (see `suit`).
    markers: the tokens that tell reasoning from answer, with their texts.
    Raises TemplateFailed, NotEnoughMemory, EngineFailed, what opening a drafter may raise and
    Cancelled; then the model is the caller's to close.
    """

    def __init__(
        self,
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
    ) -> None:
        vocabulary = model.vocabulary
        self.native = native
        self.model = model
        self._header = header
        self._plan = plan
        self._book = book
        with ExitStack() as opened:
            self.dialect = Dialect(
                model.chat_template,
                bos=vocabulary.text(vocabulary.bos),
                eos=vocabulary.eos_text,
                control=vocabulary.control_texts,
                added=vocabulary.user_defined_texts,
                trusted=trusted,
            )
            opened.callback(self.dialect.close)
            self.markers = {
                token: text
                for text in self.dialect.markers
                if (token := vocabulary.token_of(text)) is not None
            }
            self.context = Context(native, model, plan)
            opened.callback(self.context.close)
            self.drafting = open_drafting(
                native, header, model, self.context, plan, progress, cancel
            )
            opened.callback(self.drafting.close)
            self.cache = KvCache(
                native.api,
                self.context,
                model,
                memory_bytes=plan.kept_bytes,
                folder=states,
                key=self._state_key(plan) if states is not None else None,
            )
            self._connect()
            self.prompter = Prompter(self.dialect, vocabulary, self.context.size)
            device = _device(native, plan)
            # What a measurement of costs holds for.
            self._costs_key = (
                f"{header.name} {header.quantisation} {header.size_bytes} {plan.drafter}"
                f" {plan.kv_type} {device} {plan.threads} {plan.repack} {BINDINGS_VERSION}"
                + (f" {plan.gpu_layers} {plan.experts_in_ram}" if plan.gpu_layers else "")
            )
            advice = plan.mtp_note or mtp_advice(header)
            self._able = self.speculation = self._speculation(advice, cancel)
            if cancel.cancelled:
                raise Cancelled
            speculation = self.speculation
            switch = self.dialect.switch
            self.report = LoadedModel(
                name=header.name,
                architecture=header.architecture,
                parameters=model.parameters,
                size_bytes=header.size_bytes,
                context=self.context.size,
                context_trained=model.context_trained,
                device=device,
                load_s=perf_counter() - began,
                mtp=speculation.kind if speculation else "none",
                mtp_line=speculation.standing if speculation else advice,
                thinking=switch.kind,
                thinks=switch.thinks,
                efforts=switch.efforts,
                effort=switch.effort,
            )
            opened.pop_all()

    def _state_key(self, plan: LoadPlan) -> StateKey | None:
        try:
            return state_key(self.native.api, self.model, self.context, plan)
        except OSError as error:
            logger.warning("no state is kept of %s: %s", plan.model.name, error)
            return None

    def _speculation(self, advice: str, cancel: CancelToken) -> Speculation | None:
        """What drafts, with the costs that were measured before, or are measured now.

        A curve by which drafts cannot win is measured again: nothing else would ever correct it.
        """
        if not self.context.drafts:
            return None
        kept, drafts = self._book.costs(self._costs_key), self.context.drafts
        costs = kept if kept is not None and kept.limit == drafts else self._measured(cancel)
        if truth.cannot_win(costs) and not cancel.cancelled:
            costs = self._measured(cancel)
        return Speculation(
            self.drafting,
            costs,
            drafts,
            self.model.vocabulary.ends_generation,
            advice,
        )

    def _measured(self, cancel: CancelToken) -> Costs:
        vocabulary = self.model.vocabulary.size
        sampler = ChainSampler(self.native, vocabulary, Sampling(), seed=1, prior=())
        with closing(sampler):
            return measure_costs(self.context, self.cache, self.drafting, sampler, cancel)

    def suit(self, mode: MtpMode) -> None:
        """Have room for drafts in a recurrent model's state, or the speed of a state without.

        To take tokens back costs such a model copies of its state at each evaluation, a few per
        cent of the time even where nothing is drafted. So an answer that drafts nothing gets a
        context without; changing it takes a fraction of a second.
        Raises NotEnoughMemory or EngineFailed; then this must be closed.
        """
        able = self._able
        if able is None or not self.model.recurrent:
            return
        drafts = mode == "on" or (mode == "auto" and not able.hopeless)
        if drafts == (self.speculation is not None):
            return
        record = self.cache.lift()
        self.drafting.close()
        self.context.close()
        plan = self._plan if drafts else replace(self._plan, draft_max=0)
        self.context = Context(self.native, self.model, plan)
        self.drafting = open_drafting(
            self.native, self._header, self.model, self.context, plan, lambda _: None, CancelToken()
        )
        self._connect()
        self.cache.settle(self.context, record)
        able.attach(self.drafting)
        self.speculation = able if drafts else None

    def _connect(self) -> None:
        self.cache.save_extra = self.drafting.save
        self.cache.restore_extra = self.drafting.restore

    def close(self) -> None:
        try:
            self.cache.put_away()
            if self._able is not None and not self._able.costs.corrected:
                self._book.keep(self._costs_key, self._able.costs)
        finally:
            self.dialect.close()
            self.drafting.close()
            self.context.close()
            self.model.close()
            give_back_memory()


def _device(native: Native, plan: LoadPlan) -> str:
    """What the model runs on, in words."""
    if not plan.gpu_layers:
        return "CPU"
    cards = [device for device in native.devices() if device.is_card]
    named = [card for card in cards if card.name in plan.devices] or cards
    return ", ".join(card.description for card in named) or "CPU"
