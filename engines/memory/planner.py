"""Makes llama.cpp's load plan from a model, a computer and load options. Pure.

plan = make_plan(path, header, hardware, LoadOptions())
require_fit(header, hardware, plan)

A model with a separate drafter file needs both: make_plan(..., DrafterFile(path, header)), and the
drafter's header again when the plan is judged. `sizes` computes the need of a plan, by the formula
unless something better is known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from engines.errors import Action, ContextTooLarge, NotEnoughMemory
from engines.hardware import Hardware, thread_rule
from engines.memory.fit import DraftNeed, Fit, Parts, Split, Verdict, judge, need_by_formula
from engines.memory.formula.weights import copied_bytes
from engines.memory.load_options import DEFAULT_CONTEXT, LoadOptions
from engines.memory.placement import cards_for, place, usable_bytes
from engines.models.gguf.header import GgufHeader, require_loadable
from engines.models.pairing import mtp_advice
from engines.sentences import N_, joined
from engines.text import amount
from engines.types import MAX_DEPTH, LlamaPlan

LEAST_CONTEXT: Final = 512
_LEAST_PICTURE_CONTEXT: Final = 2048
"""Least context in tokens that has room for a picture and an answer."""
ANYWAY_CONTEXT: Final = 2048
"""Context of a model that is loaded although no context fits: enough for a short conversation."""
_STEP: Final = 256

# Depths to try, highest first. Each one costs a copy of the state if the states are kept.
_DEPTHS: Final = (MAX_DEPTH,)
_DEPTHS_OF_STATES: Final = (3, 2, 1)
# Other conversations can take the free memory divided by this number.
_STATES_DIVISOR: Final = 10
MOST_PLANNED: Final = 4
"""Most simultaneous answers if the user has not set a number."""
# The contexts of further answers can take the free memory divided by this number.
_PARALLEL_DIVISOR: Final = 8
# Drafting is worth it only if this share of the context, and of the layers on a card, remains.
_LEAST_SHARE: Final = 7 / 8


@dataclass(frozen=True)
class DrafterFile:
    """A drafter's file and its header, already paired with the model; see `pairing`."""

    path: Path
    header: GgufHeader


@dataclass(frozen=True)
class ProjectorFile:
    """A projector file, with which a model sees or hears.

    Attributes:
        size_bytes: Approximate memory that it takes.
        rows: Tokens of the largest picture if the model reads a picture in one call, else 0.
    """

    path: Path
    size_bytes: int
    rows: int = 0


Sizes = Callable[[GgufHeader, LlamaPlan, GgufHeader | None], Split]
"""Computes the need of a plan from the headers of its model and its drafter."""


def by_formula(header: GgufHeader, plan: LlamaPlan, drafter: GgufHeader | None) -> Split:
    """Compute the need of a plan by the formula alone."""
    return need_by_formula(
        header,
        plan.context,
        plan.kv_type,
        plan.batch,
        plan.gpu_layers,
        DraftNeed(plan.draft_max, drafter),
        mmap=plan.mmap,
        repack=plan.repack,
        cards=max(1, len(plan.devices)),
        experts_in_ram=plan.experts_in_ram,
        sequences=plan.parallel,
    )


def corrected(ram: int, card: int) -> Sizes:
    """Return the formula, corrected by bytes in the main memory and on cards."""

    def sizes(header: GgufHeader, plan: LlamaPlan, drafter: GgufHeader | None) -> Split:
        return with_more(by_formula(header, plan, drafter), ram, card if plan.gpu_layers else 0)

    return sizes


def with_more(split: Split, ram: int, card: int) -> Split:
    """Add bytes in the main memory and on graphics cards."""

    def more(parts: Parts, count: int) -> Parts:
        return replace(parts, compute=parts.compute + count)

    return Split(more(split.gpu, card), more(split.ram, ram))


def make_plan(
    path: Path,
    header: GgufHeader,
    hardware: Hardware,
    load_options: LoadOptions,
    drafter: DrafterFile | None = None,
    sizes: Sizes = by_formula,
    projector: ProjectorFile | None = None,
) -> LlamaPlan:
    """Plan how to load a model; use `check` and `require_fit` to learn whether the plan fits.

    The plan includes the projector, unless memory is short; then `projector_note` says so.

    A context that the user sets is used as it is. Otherwise it is the trained one, at most
    DEFAULT_CONTEXT, or a shorter one if memory is short. If drafting would make the model too
    large, there is less memory for drafting or none, and `mtp_note` says so. If the user has not
    set the number of simultaneous answers, there are as many as take little memory beside the
    first.

    A model that is loaded anyway although it does not fit stays in its file as far as possible. The
    system then reads it again and again, but does not have to kill the app.

    Raises:
        NotAChatModel: The model cannot chat.
        ContextTooLarge: The user's context is longer than the trained one.
    """
    require_loadable(path, header)
    if load_options.context is not None:
        _check_context(path, header, load_options.context)
    if projector is None:
        return _plan(path, header, hardware, load_options, drafter, sizes, None)
    with_projector = _plan(path, header, hardware, load_options, drafter, sizes, projector)
    fit = check(
        header, hardware, with_projector, _header_of(with_projector, drafter), sizes, projector
    )
    if fit.verdict != "no" and with_projector.context >= min(
        _LEAST_PICTURE_CONTEXT, header.context_max
    ):
        return with_projector
    without = _plan(path, header, hardware, load_options, drafter, sizes, None)
    return replace(
        without,
        projector_note=N_(
            "There is no memory left for its projector, which needs {size} more, "
            "so it cannot take pictures or sounds.",
            size=amount(projector.size_bytes),
        ),
    )


def _header_of(plan: LlamaPlan, drafter: DrafterFile | None) -> GgufHeader | None:
    """Return the header of a plan's drafter, if it has one."""
    return drafter.header if drafter is not None and plan.drafter is not None else None


def _plan(
    path: Path,
    header: GgufHeader,
    hardware: Hardware,
    load_options: LoadOptions,
    drafter: DrafterFile | None,
    sizes: Sizes,
    projector: ProjectorFile | None,
) -> LlamaPlan:
    checker = _FitChecker(header, hardware, sizes, projector)
    bare = _basic_plan(path, header, hardware, load_options)
    if projector is not None:
        # A picture that is read in one call needs a batch that holds all of it.
        batch = max(bare.batch, projector.rows)
        bare = replace(bare, projector=projector.path, batch=batch)
    plain = _sized(checker, load_options, bare, None)
    if load_options.anyway and not checker.fits(plain, None):
        context = load_options.context or min(header.context_max, ANYWAY_CONTEXT)
        plain = replace(plain, context=context, mmap=True, repack=False)
    if not load_options.mtp:
        off = replace(plain, mtp_note=N_("Guessing ahead is switched off for this model."))
        return _side_by_side(checker, load_options, off, None)
    drafts = drafter is not None or header.mtp == "embedded"
    with_drafter = replace(plain, drafter=drafter.path if drafter else None)
    drafter_header = drafter.header if drafter else None
    for depth in _DEPTHS_OF_STATES if header.keeps_states and drafts else _DEPTHS:
        candidate = replace(with_drafter, draft_max=depth)
        plan = _sized(checker, load_options, candidate, drafter_header)
        if _is_nearly_as_good(checker, plan, plain, drafter_header):
            plan = plan if drafts else replace(plan, mtp_note=mtp_advice(header))
            return _side_by_side(checker, load_options, plan, drafter_header)
    placed = replace(
        candidate,
        gpu_layers=plain.gpu_layers,
        devices=plain.devices,
        experts_in_ram=plain.experts_in_ram,
        mmap=plain.mmap,
    )
    more = sizes(header, placed, drafter_header).parts.drafter
    without = replace(
        plain,
        mtp_note=N_(
            "There is no memory left for guessing ahead, which needs {size} more.",
            size=amount(more),
        ),
    )
    return _side_by_side(checker, load_options, without, None)


def _basic_plan(
    path: Path, header: GgufHeader, hardware: Hardware, load_options: LoadOptions
) -> LlamaPlan:
    """Make the plan without drafting, before its context and placement are chosen."""
    threads = thread_rule(hardware.cpu, header.size_bytes)
    return LlamaPlan(
        model=path,
        context=min(header.context_max, DEFAULT_CONTEXT),
        threads=load_options.threads or threads.decode,
        batch_threads=load_options.threads or threads.batch,
        kv_type=load_options.kv_type,
        draft_max=0,
        kept_bytes=min(load_options.kept_bytes, hardware.memory.available_bytes // _STATES_DIVISOR),
        anyway=load_options.anyway,
        parallel=load_options.parallel or 1,
        adapters=load_options.adapters,
    )


def _side_by_side(
    checker: _FitChecker, load_options: LoadOptions, plan: LlamaPlan, drafter: GgufHeader | None
) -> LlamaPlan:
    """Return the plan with the set number of simultaneous answers, or as many as are cheap."""
    single = checker.fit(plan, drafter)
    if load_options.parallel is not None or single.verdict != "fits":
        return plan
    for count in range(MOST_PLANNED, 1, -1):
        several = replace(plan, parallel=count)
        fit = checker.fit(several, drafter)
        cheap = fit.need_bytes - single.need_bytes <= fit.have_bytes // _PARALLEL_DIVISOR
        if cheap and fit.verdict == "fits":
            return several
    return plan


@dataclass(frozen=True)
class _FitChecker:
    """Checks whether plans of one model fit on a computer."""

    header: GgufHeader
    hardware: Hardware
    sizes: Sizes
    projector: ProjectorFile | None

    def needed(self, plan: LlamaPlan, drafter: GgufHeader | None) -> Split:
        return needed_by(self.header, plan, drafter, self.sizes, self.projector)

    def fits(self, plan: LlamaPlan, drafter: GgufHeader | None) -> bool:
        return self.fit(plan, drafter).verdict != "no"

    def fit(self, plan: LlamaPlan, drafter: GgufHeader | None) -> Fit:
        return check(self.header, self.hardware, plan, drafter, self.sizes, self.projector)


def _sized(
    checker: _FitChecker, load_options: LoadOptions, plan: LlamaPlan, drafter: GgufHeader | None
) -> LlamaPlan:
    """Return the plan with its layers placed, and the longest context that fits, up to its own."""
    copied = copied_bytes(checker.header)
    mostly_copied = copied > checker.header.weight_bytes // 2

    def mapped(plan: LlamaPlan) -> bool:
        """Return whether to map the file; copied weights would otherwise take memory twice."""
        if plan.gpu_layers != 0 or not copied or not plan.repack:
            return True
        if mostly_copied:
            return False
        fit = checker.fit(plan, drafter)
        unmapped = checker.fit(replace(plan, mmap=False), drafter)
        return fit.verdict == "fits" or fit.need_bytes <= unmapped.need_bytes

    def with_context(context: int) -> LlamaPlan:
        sized = _placed(checker, replace(plan, context=context, mmap=True), load_options, drafter)
        return replace(sized, mmap=mapped(sized))

    if load_options.context is not None:
        return with_context(load_options.context)
    least = min(LEAST_CONTEXT, plan.context)
    contexts = (*range(least, plan.context, _STEP), plan.context)
    too_long = bisect_left(
        contexts, 1, key=lambda context: not checker.fits(with_context(context), drafter)
    )
    return with_context(contexts[max(0, too_long - 1)])


def _is_nearly_as_good(
    checker: _FitChecker, plan: LlamaPlan, plain: LlamaPlan, drafter: GgufHeader | None
) -> bool:
    """Return whether a plan with drafting fits, and keeps nearly all that the plain plan has."""
    if plan.context < _LEAST_SHARE * plain.context or (plain.gpu_layers < 0 <= plan.gpu_layers):
        return False
    if 0 <= plan.gpu_layers < _LEAST_SHARE * plain.gpu_layers:
        return False
    more_in_ram = plan.experts_in_ram - plain.experts_in_ram
    if plan.gpu_layers and more_in_ram > (1 - _LEAST_SHARE) * checker.header.block_count:
        return False
    return checker.fits(plan, drafter)


def _check_context(path: Path, header: GgufHeader, context: int) -> None:
    if not 1 <= context <= header.context_max:
        raise ContextTooLarge(
            N_(
                "“{name}” cannot have a context of {context} tokens.",
                name=path.name,
                context=f"{context:,}",
            ),
            N_("It was trained for at most {context_max}.", context_max=f"{header.context_max:,}"),
            N_(
                "Set a context between 1 and {context_max}, or 0 to let Hearth choose.",
                context_max=f"{header.context_max:,}",
            ),
        )


def _placed(
    checker: _FitChecker, plan: LlamaPlan, load_options: LoadOptions, drafter: GgufHeader | None
) -> LlamaPlan:
    """Return the plan with its devices, the layers on them, and the experts that stay in RAM."""
    cards = cards_for(checker.hardware, load_options.devices)
    names = tuple(gpu.device for gpu in cards if gpu.device)
    plan = replace(plan, devices=names)

    def on_cards(layers: int, experts: int) -> int:
        candidate = replace(plan, gpu_layers=layers, experts_in_ram=experts)
        return checker.needed(candidate, drafter).gpu.total

    space = sum(map(usable_bytes, cards))
    layers, experts = place(
        checker.header, space, on_cards, load_options.gpu_layers, load_options.experts_in_ram
    )
    return replace(plan, gpu_layers=layers, experts_in_ram=experts, devices=names if layers else ())


def check(
    header: GgufHeader,
    hardware: Hardware,
    plan: LlamaPlan,
    drafter: GgufHeader | None = None,
    sizes: Sizes = by_formula,
    projector: ProjectorFile | None = None,
) -> Fit:
    """Judge whether a plan's model, with drafter and projector, fits into the free memory."""
    needed = needed_by(header, plan, drafter, sizes, projector)
    available = hardware.memory.available_bytes
    cards = cards_for(hardware, plan.devices) if plan.gpu_layers else ()
    space = sum(map(usable_bytes, cards))
    device = " and ".join(gpu.name for gpu in cards) or hardware.cpu.name
    shared = any(gpu.integrated for gpu in cards)
    if not cards:
        need, have = needed.ram.total + needed.gpu.total, available
        verdict = judge(need, have)
    elif shared:
        # An integrated unit uses the computer's memory, so both needs come out of the same memory.
        need, have = needed.parts.total, available
        verdict = "no" if needed.gpu.total > space else judge(need, have)
    elif needed.gpu.total > space or needed.ram.total > available:
        need, have, verdict = needed.parts.total, space + available, "no"
    elif _all_on_cards(plan, header) and not plan.experts_in_ram:
        need, have = needed.gpu.total, space
        verdict = judge(need, have)
    else:
        need, have, verdict = needed.parts.total, space + available, "partial"
        device = f"{device} and {hardware.cpu.name}"
    return Fit(
        verdict=verdict,
        need_bytes=need,
        have_bytes=have,
        split=needed,
        context=plan.context,
        device=device,
        reason=joined(" ", (_reason(verdict, need, have, plan, header), *_left_out(hardware))),
    )


def _all_on_cards(plan: LlamaPlan, header: GgufHeader) -> bool:
    return plan.gpu_layers < 0 or plan.gpu_layers > header.block_count


def judge_roughly(need: int, hardware: Hardware) -> Verdict:
    """Judge a number of bytes, on the cards or in the main memory."""
    available = hardware.memory.available_bytes
    cards = cards_for(hardware)
    space = sum(map(usable_bytes, cards))
    if any(gpu.integrated for gpu in cards) or not space:
        return judge(need, available)
    if need <= space:
        return judge(need, space)
    return "partial" if need <= space + available else "no"


def needed_by(
    header: GgufHeader,
    plan: LlamaPlan,
    drafter: GgufHeader | None,
    sizes: Sizes,
    projector: ProjectorFile | None,
) -> Split:
    """Return the need of a plan; its projector and its adapters go where the layers go."""
    split = sizes(header, plan, drafter)
    projector_bytes = (
        projector.size_bytes if projector is not None and plan.projector is not None else 0
    )
    adapters = sum(adapter.size_bytes for adapter in plan.adapters)

    def more(parts: Parts) -> Parts:
        return replace(parts, projector=projector_bytes, weights=parts.weights + adapters)

    if plan.gpu_layers:
        return replace(split, gpu=more(split.gpu))
    return replace(split, ram=more(split.ram))


def _reason(verdict: Verdict, need: int, have: int, plan: LlamaPlan, header: GgufHeader) -> str:
    numbers = N_("{need} are needed and {have} are free", need=amount(need), have=amount(have))
    match verdict:
        case "fits":
            return N_("It fits: {numbers}.", numbers=numbers)
        case "tight":
            return N_(
                "It just fits: {numbers}. Close other programs if the computer slows down.",
                numbers=numbers,
            )
        case "partial" if plan.experts_in_ram and _all_on_cards(plan, header):
            return N_(
                "It fits on the graphics card except for the experts of {experts_in_ram} of its "
                "{block_count} layers, which run on the processor: {numbers}.",
                experts_in_ram=plan.experts_in_ram,
                block_count=header.block_count,
                numbers=numbers,
            )
        case "partial" if plan.gpu_layers == header.block_count:
            return N_(
                "All of its {block_count} layers fit on the graphics card, only the output after "
                "them runs on the processor, which is slower: {numbers}.",
                block_count=header.block_count,
                numbers=numbers,
            )
        case "partial":
            return N_(
                "{gpu_layers} of its {block_count} layers fit on the graphics card, the rest "
                "runs on "
                "the processor, which is slower: {numbers}.",
                gpu_layers=plan.gpu_layers,
                block_count=header.block_count,
                numbers=numbers,
            )
    return N_("It does not fit: {numbers}.", numbers=numbers)


def _left_out(hardware: Hardware) -> list[str]:
    """Return a sentence for each card that this build supports but does not use."""
    left = [gpu for gpu in hardware.gpus if gpu.backend and not gpu.usable]
    return [N_("{name} is not used: {why_not}", name=gpu.name, why_not=gpu.why_not) for gpu in left]


def require_fit(
    header: GgufHeader,
    hardware: Hardware,
    plan: LlamaPlan,
    drafter: GgufHeader | None = None,
    sizes: Sizes = by_formula,
    projector: ProjectorFile | None = None,
) -> None:
    """Refuse a plan that does not fit, with the numbers. Raises NotEnoughMemory.

    A plan that the user wants to load anyway is not refused.
    """
    fit = check(header, hardware, plan, drafter, sizes, projector)
    if fit.verdict != "no" or plan.anyway:
        return
    parts = fit.parts
    shorter = (
        N_("set a context below {context} tokens, ", context=f"{plan.context:,}")
        if plan.context > LEAST_CONTEXT
        else ""
    )
    limit = hardware.memory.limit_bytes
    raise NotEnoughMemory(
        N_(
            "There is not enough memory for “{name}”: it needs {need_bytes}, and {have_bytes} "
            "are free.",
            name=header.name,
            need_bytes=amount(fit.need_bytes),
            have_bytes=amount(fit.have_bytes),
        ),
        N_(
            "Its weights take {weights}, the KV cache of {context} tokens takes {kv}, and "
            "computing takes {compute}{container}.",
            weights=amount(parts.weights),
            context=f"{plan.context:,}",
            kv=amount(parts.kv),
            compute=amount(parts.compute + parts.drafter),
            container=N_("; this container may use {limit}", limit=amount(limit)) if limit else "",
        ),
        N_(
            "Close other programs, {shorter}or choose a smaller model or quantisation; to try it "
            "all the same, very slowly, load it anyway.",
            shorter=shorter,
        ),
        Action("load_anyway"),
    )
