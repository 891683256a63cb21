"""A worker that is ready, with the facts about its model that the engine needs to answer."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from engines.dialect import Dialect
from engines.dialect.switch import ThinkingChoices
from engines.errors import TemplateFailed
from engines.models.checkpoint import Checkpoint, read_chat_template
from engines.openai.access import ServedModelAccess
from engines.openai.features import BUDGET, TOOLS
from engines.openai.values import Drafted
from engines.types import ChatRequest, LoadedModel, MtpReport, VllmPlan
from engines.vllm import mtp_status
from engines.vllm.command import MODEL, max_rank
from engines.vllm.gain_book import DraftSpeeds, GainBook
from engines.vllm.parsing import Parsing, added_tokens
from engines.vllm.speculation import SpeculativeConfig
from engines.vllm.worker import Worker

logger = logging.getLogger(__name__)


def read_switch(folder: Path) -> ThinkingChoices:
    """Read how the chat template turns reasoning on; empty if there is no usable template."""
    config = _json(folder / "tokenizer_config.json")
    template = read_chat_template(folder)
    if template is None:
        return ThinkingChoices()
    tokens = [token for token in added_tokens(folder) if token[0]]
    try:
        return _switch_of(
            template,
            _text(config.get("bos_token")),
            _text(config.get("eos_token")),
            tuple(token for token, special in tokens if special),
            tuple(token for token, special in tokens if not special),
        )
    except TemplateFailed as error:
        logger.warning("the chat template of %s is not understood: %s", folder.name, error.why)
        return ThinkingChoices()


@lru_cache(maxsize=4)
def _switch_of(
    template: str, bos: str, eos: str, control: tuple[str, ...], added: tuple[str, ...]
) -> ThinkingChoices:
    """Try a template out in a child process; cached, as a worker often restarts with the same one.

    Raises:
        TemplateFailed: The template cannot be used.
        EngineUnavailable: The process cannot be started.
    """
    dialect = Dialect(template, bos=bos, eos=eos, control=control, added=added)
    dialect.close()
    return dialect.switch


def _text(token: Any) -> str:
    return str(token.get("content", "")) if isinstance(token, dict) else str(token or "")


def _json(file: Path) -> dict[str, Any]:
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


@dataclass(frozen=True)
class Setup:
    """The plan, checkpoint and drafting that a worker is started with.

    Attributes:
        drafts: How the worker drafts, or None.
        advice: Explains why nothing can draft; "" if something could.
        device: Description of the devices that it runs on.
        version: Version of vLLM.
        free_bytes: Free memory on its cards before the start.
        takes: Bytes of the cards' memory that the plan needs; None for as much as is allowed.
        notes: Parts of the plan that the environment does not support, one sentence each.
    """

    plan: VllmPlan
    checkpoint: Checkpoint
    drafts: SpeculativeConfig | None
    advice: str
    device: str
    version: str
    free_bytes: int = 0
    takes: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """Number of tokens that are drafted ahead; 0 without drafts."""
        return self.drafts.depth if self.drafts else 0

    @property
    def own_drafts(self) -> bool:
        """True if a drafter or the model's own heads draft or could draft, and not only lookup."""
        return self.plan.drafter is not None or self.checkpoint.mtp == "embedded"

    @property
    def key(self) -> str:
        """Key for measured speeds, which contains everything that changes them."""
        plan = self.plan
        return (
            f"{plan.model} {self.checkpoint.weight_bytes} {plan.drafter} {plan.kv_type}"
            f" {plan.options.cards} {self.device} {self.version}"
        )


class Running:
    """A ready worker with its model.

    Args:
        book: Measured speeds.
        context: Actual context in tokens.
        load_s: Seconds that this process spent on loading or joining.
        reach: Translates a path of this computer into one for the worker.
        start_s: Seconds that the start took if another Hearth started the worker, else None.

    Attributes:
        most_rank: Highest rank of a LoRA adapter that it has room for; 0 for none.
    """

    def __init__(
        self,
        setup: Setup,
        worker: Worker,
        book: GainBook,
        context: int,
        load_s: float,
        notes: tuple[str, ...],
        parsing: Parsing,
        reach: Callable[[Path], str],
        start_s: float | None = None,
    ) -> None:
        self.setup = setup
        self.reach = reach
        self.most_rank = max_rank(setup.plan.adapters)
        self.worker = worker
        self._book = book
        checkpoint, drafts = setup.checkpoint, setup.drafts
        switch = read_switch(checkpoint.path)
        self.report = LoadedModel(
            name=checkpoint.name,
            architecture=checkpoint.model_type,
            parameters=checkpoint.parameters,
            size_bytes=checkpoint.weight_bytes,
            context=context,
            context_trained=checkpoint.context_max,
            device=setup.device,
            load_s=load_s,
            mtp=drafts.kind if drafts else "none",
            mtp_line=self._status_before_answers(load_s if start_s is None else start_s),
            thinking=switch.kind,
            thinks=switch.thinks,
            efforts=switch.efforts,
            effort=switch.effort,
            mtp_switch="restart" if setup.own_drafts else "restart_for_on",
            restart_s=load_s if start_s is None else start_s,
            notes=notes,
            answers_at_once=max(1, setup.plan.parallel),
            sees=setup.plan.options.pictures,
            hears=setup.plan.options.sounds,
        )
        self.access = ServedModelAccess(
            client=worker.api,
            model=MODEL,
            kind="vllm",
            context=context,
            load_s=load_s,
            report=self._mtp,
            tokenizes=True,
            measures=True,
            drafts=drafts is not None,
            thinking=switch.kind,
            thinks=switch.thinks,
            keep_special_tokens=parsing.keep_special_tokens,
            enforces_calls=parsing.forces_calls,
            omitted=frozenset(
                ([] if parsing.budget else [BUDGET]) + ([] if parsing.tools else [TOOLS])
            ),
        )

    def learn(self, tokens: int, tok_s: float) -> None:
        """Record the speed of an answer."""
        self._book.learn(self.setup.key, self.setup.depth, tokens, tok_s)

    @property
    def _speeds(self) -> DraftSpeeds:
        return self._book.speeds_of(self.setup.key, self.setup.depth)

    def _status_before_answers(self, restart_s: float) -> str:
        drafts = self.setup.drafts
        if drafts is None:
            return self.setup.advice or mtp_status.still_off(restart_s)
        return mtp_status.status_before_answers(
            drafts.kind, drafts.depth, self._speeds, self.setup.advice
        )

    def _mtp(self, request: ChatRequest, drafted: Drafted | None) -> MtpReport:
        """Report how MTP worked in an answer; `drafted` counts the drafts of this answer only."""
        drafts, restart_s = self.setup.drafts, self.report.restart_s
        if drafts is None:
            reason = self.setup.advice or (
                mtp_status.still_off(restart_s) if request.mtp == "on" else mtp_status.OFF
            )
            return MtpReport(request.mtp, active=False, reason=reason)
        drafted_count = drafted.drafted if drafted else 0
        accepted_count = drafted.accepted if drafted else 0
        gain = self._speeds.gain
        if request.mtp == "off":
            reason = mtp_status.still_on(drafts.depth, restart_s)
        elif drafted_count:
            reason = mtp_status.status_running(
                drafts.kind, drafts.depth, drafted_count, accepted_count, gain
            )
        else:
            reason = self._status_before_answers(restart_s)
        return MtpReport(
            request.mtp,
            active=True,
            reason=reason,
            kind=drafts.kind,
            depth=drafts.depth,
            drafted=drafted_count,
            accepted=accepted_count,
            gain=gain,
        )
