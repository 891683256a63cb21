"""Judges whether a model fits this computer, as exactly as is possible before loading it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.models.library.store.load_records import LoadStore
from app.models.library.values.entry import ModelEntry
from app.models.library.values.load_records import LoadRecord, learnt
from engines.cancel import CancelToken
from engines.errors import EngineError, NotSized, UserError
from engines.hardware import Hardware
from engines.llamacpp.sizing.sizer import Sizer
from engines.memory.buffers import Buffers
from engines.memory.fit import (
    DraftNeed,
    Fit,
    Split,
    Verdict,
    need_by_formula,
    need_by_library,
    overhead_bytes,
)
from engines.memory.load_options import DEFAULT_CONTEXT, LoadOptions
from engines.memory.placement import share_on_cards
from engines.memory.planner import (
    DrafterFile,
    ProjectorFile,
    Sizes,
    by_formula,
    check,
    corrected,
    judge_roughly,
    make_plan,
    needed_by,
    with_more,
)
from engines.models.gguf.header import GgufHeader, read_header
from engines.models.gguf.projector import read_projector
from engines.models.pairing import require_pair
from engines.sentences import N_, joined
from engines.text import amount
from engines.types import LlamaPlan, LoadedModel, LoadPlan

logger = logging.getLogger(__name__)


LIBRARY_FAILED: Final = N_("llama.cpp could not say how much memory this takes.")

_ROUNDS: Final = 3
_REMEMBERED: Final = 9
# If a plan needs less than this share of the free memory, formula and library agree on the plan.
_SURELY_FITS: Final = 0.5
# Bytes for the context, computing and the rest, for a model of which only the size is known.
_OVERHEAD_BYTES: Final = 1_000_000_000
_BATCH: Final = 512
_HARDWARE_VALID_S: Final = 5.0


@dataclass(frozen=True)
class Judgement:
    """A plan and its memory need.

    Attributes:
        drafter: The header of its drafter.
        projector: The model's projector, whether the plan includes it or not.
        hardware: The computer at the time of the judgement.
        sizes: The need of the plan, with the corrections learnt from earlier loads.
        fit: The verdict, with these corrections.
        needed: The whole need, without these corrections.
        buffers: The library's own figures; None if the formula was used.
        why_not: Why the formula was used.
    """

    plan: LlamaPlan
    header: GgufHeader
    drafter: GgufHeader | None
    projector: ProjectorFile | None
    hardware: Hardware
    sizes: Sizes
    fit: Fit
    needed: Split
    buffers: Buffers | None
    why_not: str = ""


@dataclass(frozen=True)
class FitReport:
    """The verdict and its basis.

    Attributes:
        fit: Verdict, bytes and parts, with the corrections learnt from earlier loads.
        share: The share of the model on graphics cards, from 0 to 1.
        plan: The plan that would be loaded.
        exact: Whether the figures come from the library itself.
        last: The model's last load.
        sentences: Explanations for the user, the most important first.
        why_not: A sentence on why the formula was used, if it was.
    """

    fit: Fit
    share: float
    plan: LoadPlan
    exact: bool
    last: LoadRecord | None
    sentences: tuple[str, ...]
    why_not: str = ""


class Fitting:
    """Judges models before they are loaded, even if only their header is here.

    Any thread can call it. `report` can take a second, so do not call it on the UI thread.

    Args:
        hardware: Returns the computer as it is now, with the memory that is free.
    """

    def __init__(self, hardware: Callable[[], Hardware], loads: LoadStore, sizer: Sizer) -> None:
        self._hardware = hardware
        self._loads = loads
        self._sizer = sizer
        self._last_hardware: tuple[float, Hardware] | None = None

    def report(
        self,
        path: Path,
        header: GgufHeader,
        load_options: LoadOptions,
        drafter: Path | None = None,
        cancel: CancelToken | None = None,
        projector: ProjectorFile | None = None,
    ) -> FitReport:
        """Judge a model.

        Args:
            path: The model's file: a real one, or a sparse one with only its header.

        Raises:
            EngineError: It is not a chat model, or the options cannot be met.
        """
        pair, _ = paired(header, drafter)
        cancel = cancel or CancelToken()
        judged = self.judge(path, header, load_options, pair, cancel, projector, sure=0.0)
        last = self._loads.last(str(path))
        return FitReport(
            fit=judged.fit,
            share=share_on_cards(judged.plan, header),
            plan=judged.plan,
            exact=judged.buffers is not None,
            last=last,
            sentences=_sentences(judged, last),
            why_not=judged.why_not,
        )

    def judge(
        self,
        path: Path,
        header: GgufHeader,
        load_options: LoadOptions,
        drafter: DrafterFile | None,
        cancel: CancelToken,
        projector: ProjectorFile | None = None,
        *,
        sure: float | None = _SURELY_FITS,
        hardware: Hardware | None = None,
    ) -> Judgement:
        """Make the plan for this computer as it is now, with its memory need.

        The formula makes a plan, and the library says how much that plan takes. The plan is then
        made again with the difference, until the difference no longer changes.

        Args:
            sure: The library is not asked if the formula's need is less than this share of the free
                memory; 0 always asks, None never does.
            hardware: The computer to judge for; None detects this one.

        Raises:
            EngineError, Cancelled
        """
        hardware = hardware or self._hardware()
        drafter_header = drafter.header if drafter else None
        buffers, why_not = None, ""
        gap = 0, 0
        for _ in range(_ROUNDS):
            sizes = corrected(*gap)
            plan, more = self._plan(path, header, hardware, load_options, drafter, projector, gap)
            fit = check(header, hardware, plan, drafter_header, sizes, projector)
            needed = sizes(header, plan, drafter_header)
            if sure is None or fit.need_bytes < sure * fit.have_bytes:
                buffers = self._sizer.known(plan)
            else:
                buffers, why_not = self._ask_library(plan, cancel)
            if buffers is None:
                break
            drafting = DraftNeed(plan.draft_max, drafter_header)
            needed = need_by_library(
                buffers,
                header,
                plan.context,
                plan.kv_type,
                plan.batch,
                drafting,
                plan.parallel,
            )
            formula = by_formula(header, plan, drafter_header)
            exact = needed.ram.total - formula.ram.total, needed.gpu.total - formula.gpu.total
            if exact == gap:
                break
            gap = exact
        sizes = _fixed_sizes(needed, more)
        fit = check(header, hardware, plan, drafter_header, sizes, projector)
        return Judgement(
            plan, header, drafter_header, projector, hardware, sizes, fit, needed, buffers, why_not
        )

    def record(self, judged: Judgement, loaded: LoadedModel) -> None:
        """Record how much memory a load took, to learn from it."""
        if loaded.buffers is None or (judged.plan.gpu_layers and loaded.device == "CPU"):
            return  # the figures are unknown, or the model was loaded to another device
        plan, real, need = judged.plan, loaded.buffers.total, judged.needed.parts.total
        # llama.cpp does not report the projector's memory, but the process grows by it.
        projector_bytes = judged.projector.size_bytes if judged.projector and plan.projector else 0
        by_sum = need - overhead_bytes(judged.header, min(plan.batch, plan.context))
        load = LoadRecord(
            model=str(plan.model),
            device=judged.fit.device,
            context=plan.context,
            kv_type=plan.kv_type,
            mmap=plan.mmap,
            draft_max=plan.draft_max,
            exact=judged.buffers is not None,
            predicted_bytes=by_sum if judged.buffers is None else judged.buffers.total,
            real_bytes=real,
            need_bytes=need + projector_bytes,
            # The growth of the process does not include the memory of a graphics card.
            used_bytes=projector_bytes + real
            if plan.gpu_layers
            else max(projector_bytes + real, loaded.grown_bytes or 0),
            when=time.time(),
        )
        try:
            self._loads.add(load)
        except UserError as error:
            logger.warning("a load was not recorded: %s", error)

    def listed(
        self,
        entry: ModelEntry,
        load_options: LoadOptions,
        hardware: Hardware,
        drafter: Callable[[], Path | None] = lambda: None,
    ) -> Verdict:
        """Judge a model for a list: by its size if that decides, else by a plan from its header.

        The library is never asked.

        Args:
            hardware: The computer, detected once for the whole list.
            drafter: Finds the model's drafter; called only if the header is read.

        Raises:
            EngineError: Its file cannot be read, or the options cannot be met.
        """
        size = entry.size_bytes
        if judge_roughly(size, hardware) == "no":
            return "no"
        is_placed = load_options.gpu_layers is not None or load_options.devices
        if load_options.context is None and not is_placed:
            ample = round((size + _OVERHEAD_BYTES) / _SURELY_FITS)
            if judge_roughly(ample, hardware) == "fits":
                return "fits"
        header = read_header(entry.path)
        pair, _ = paired(header, drafter())
        projector = projector_file(entry.projector)
        judged = self.judge(
            entry.path, header, load_options, pair, CancelToken(), projector, sure=None,
            hardware=hardware,
        )  # fmt: skip
        return judged.fit.verdict

    def quick(self, size_bytes: int, sibling: GgufHeader | None = None) -> Verdict:
        """Judge a model by its file's size, at once, for lists.

        Args:
            sibling: The header of another quantisation of the same model, for its KV cache.
        """
        need = size_bytes + _OVERHEAD_BYTES
        if sibling is not None:
            context = min(sibling.context_max, DEFAULT_CONTEXT)
            split = need_by_formula(sibling, context, "f16", _BATCH, 0)
            need = size_bytes + split.parts.total - split.parts.weights
        return judge_roughly(need, self._recent_hardware())

    def _recent_hardware(self) -> Hardware:
        """Return the computer as it was a few seconds ago at most, because lists ask many times."""
        now = time.monotonic()
        if self._last_hardware is None or now - self._last_hardware[0] > _HARDWARE_VALID_S:
            self._last_hardware = now, self._hardware()
        return self._last_hardware[1]

    def _plan(
        self,
        path: Path,
        header: GgufHeader,
        hardware: Hardware,
        load_options: LoadOptions,
        drafter: DrafterFile | None,
        projector: ProjectorFile | None,
        gap: tuple[int, int],
    ) -> tuple[LlamaPlan, int]:
        """Make a plan.

        Returns:
            The plan, and the bytes beyond all sums that it needs according to past loads.
        """
        drafter_header = drafter.header if drafter else None
        sizes = corrected(*gap)
        plan = make_plan(path, header, hardware, load_options, drafter, sizes, projector)
        device = check(header, hardware, plan, drafter_header, sizes, projector).device
        need = needed_by(header, plan, drafter_header, sizes, projector).parts.total
        more = self._learnt(plan, device, need)
        if not more:
            return plan, 0
        ram, card = gap
        sizes = corrected(ram, card + more) if plan.gpu_layers else corrected(ram + more, card)
        return make_plan(path, header, hardware, load_options, drafter, sizes, projector), more

    def _learnt(self, plan: LlamaPlan, device: str, need: int) -> int:
        same = self._loads.last_of(plan)
        if same is not None and same.device != device:
            same = None
        return learnt(self._loads.on_device(device, _REMEMBERED), same, need)

    def _ask_library(self, plan: LlamaPlan, cancel: CancelToken) -> tuple[Buffers | None, str]:
        """Ask the library for its buffers.

        A plan that cannot load is not an error here: it fails when it is loaded.

        Returns:
            The buffers, or None and the reason.
        """
        try:
            return self._sizer.buffers(plan, cancel), ""
        except NotSized as error:
            return None, joined(" ", (error.what, error.why))
        except EngineError as error:
            return None, joined(" ", (LIBRARY_FAILED, error.what))


def paired(target: GgufHeader, path: Path | None) -> tuple[DrafterFile | None, str]:
    """Return the drafter, or the reason why the model goes without one.

    A model is never refused because of its drafter.
    """
    if path is None:
        return None, ""
    try:
        header = read_header(path)
        require_pair(target, header)
    except EngineError as error:
        return None, N_("The drafter cannot be used: {what} {why}", what=error.what, why=error.why)
    return DrafterFile(path, header), ""


def projector_file(path: Path | None) -> ProjectorFile | None:
    """Describe a projector by its file.

    Returns:
        None if there is none or it cannot be read; loading it reports the error.
    """
    if path is None:
        return None
    try:
        facts = read_projector(path)
    except EngineError:
        return None
    return ProjectorFile(path, facts.memory_bytes, facts.picture_rows)


def _fixed_sizes(needed: Split, more: int) -> Sizes:
    """Return a size function that always gives this need plus `more` bytes."""

    def sizes(_header: GgufHeader, plan: LlamaPlan, _drafter: GgufHeader | None) -> Split:
        return with_more(needed, *((0, more) if plan.gpu_layers else (more, 0)))

    return sizes


def _sentences(judged: Judgement, last: LoadRecord | None) -> tuple[str, ...]:
    sentences = [judged.fit.reason]
    if judged.fit.verdict == "no":
        sentences.append(
            N_(
                "If it is loaded anyway, it is read from the disk again and again, and is "
                "very slow."
            )
        )
    if judged.plan.mtp_note and judged.fit.verdict != "no":
        sentences.append(judged.plan.mtp_note)
    if judged.plan.projector_note and judged.fit.verdict != "no":
        sentences.append(judged.plan.projector_note)
    if judged.why_not:
        sentences.append(N_("This is an estimate. {why_not}", why_not=judged.why_not))
    if last is not None:
        sentences.append(
            N_(
                "When it was last loaded, {predicted_bytes} were expected and {real_bytes} were "
                "used.",
                predicted_bytes=amount(last.predicted_bytes),
                real_bytes=amount(last.real_bytes),
            )
        )
    return tuple(sentences)
