"""Measurements of MTP: the speed of each mode, and whether answers stay the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from app.activity.services.measuring.answering import Answered, answer, answers, greedy
from app.activity.services.measuring.prompts import KINDS, prompts_for
from app.activity.values.bench_results import (
    KIND_WORDS,
    BenchResult,
    BenchStep,
    Run,
    TextKind,
    kind_result,
)
from app.models.library.services.load_options import load_options_of
from app.models.library.values.entry import ModelEntry
from app.models.library.values.same_answer import PromptComparison
from app.runtime.services.lease import Lease
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import MtpUnavailable
from engines.sentences import N_
from engines.types import (
    MtpCheck,
    MtpMode,
    MtpSwitch,
)

Work = tuple[int, str, int]
"""The number of a prompt, its text, and a depth."""


class RestartingMeasurement:
    """Measurements on an engine that must restart for each mode.

    Args:
        lease: Leases the model with these settings and this many drafted tokens.
    """

    def __init__(self, lease: Callable[[Settings, int | None], Lease]) -> None:
        self._lease = lease

    def compare(
        self, settings: Settings, work: Sequence[Work], tokens: int, cancel: CancelToken
    ) -> Iterator[BenchStep | PromptComparison]:
        """Compare answers: first without drafts, then at each depth. See `Bench.compare`."""
        prompts = {number: text for number, text, _ in work}
        depths = sorted({depth for *_, depth in work})
        total = len(prompts) + len(work)
        plain_answers: dict[int, Answered] = {}
        count = 0
        for depth in (0, *depths):
            items = [item for item in work if item[2] == depth]
            prompts_here = {number: text for number, text, _ in items} if depth else prompts
            mode: MtpMode = "on" if depth else "off"
            starting = N_("starting with {depth} ahead", depth=depth) if depth else N_("starting")
            yield BenchStep(count, total, starting)
            with self._lease(replace(settings, mtp=mode), depth or None) as model:
                _require_drafts(model, depth)
                for number, text in prompts_here.items():
                    yield BenchStep(count, total, _prompt_words(number, len(prompts), depth))
                    answered = answer(model, text, mode, tokens, cancel)
                    if cancel.cancelled:
                        return
                    count += 1
                    if depth:
                        yield PromptComparison(
                            number, _check(plain_answers[number], answered, depth)
                        )
                    else:
                        plain_answers[number] = answered


def _prompt_words(number: int, count: int, depth: int) -> str:
    return N_("prompt {number} of {count}, {depth} ahead", number=number, count=count, depth=depth)


def _require_drafts(model: Lease, depth: int) -> None:
    """Check that the model can draft if the depth needs it. Raises MtpUnavailable."""
    if depth and model.loaded.mtp == "none":
        raise MtpUnavailable(
            N_("MTP is not possible with “{name}”.", name=model.entry.name),
            model.loaded.mtp_line,
            N_("Use it without, or choose a model that has it."),
        )


def _check(plain: Answered, drafted: Answered, depth: int) -> MtpCheck:
    """Compare texts, because such an engine returns no logits.

    The number of equal tokens is estimated from the number of equal characters.
    """
    is_same = plain.whole == drafted.whole
    pairs = zip(plain.whole, drafted.whole, strict=False)
    shorter = min(len(plain.whole), len(drafted.whole))
    equal_characters = next(
        (
            index
            for index, (character, drafted_character) in enumerate(pairs)
            if character != drafted_character
        ),
        shorter,
    )
    tokens = (
        plain.tokens if is_same else plain.tokens * equal_characters // max(1, len(plain.whole))
    )
    return MtpCheck(is_same, tokens, depth, drafted.done.mtp.accepted)


_WARM_UP = 16
"""Tokens of a warm-up answer that is not counted, because first accesses to memory are slow."""


class Bench:
    """Measurements of one model, which has the engine to itself, so that nothing else slows it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def measure(
        self,
        entry: ModelEntry,
        settings: Settings,
        modes: Sequence[MtpMode],
        tokens: int,
        rounds: int,
        progress: Progress,
        cancel: CancelToken,
    ) -> Iterator[BenchStep | BenchResult]:
        """Answer one prompt of each kind in every mode, side by side in interleaved rounds.

        If the engine must restart to change the mode, each mode is measured in one block after a
        start of its own instead. A server's own mode is measured as it is.

        Ends early, without a result, when cancelled. Raises EngineError or Cancelled.

        Args:
            modes: Each at most once; the others are compared with "off" if it is among them.
        """
        with ExitStack() as stack:
            model = stack.enter_context(
                self._lease(entry, replace(settings, mtp=modes[0]), progress, cancel)
            )
            modes, blocks = _blocks(modes, model.loaded.mtp_switch)
            prompts = prompts_for(entry)
            runs: dict[tuple[TextKind, MtpMode], list[Run]] = {
                (kind, mode): [] for kind in KINDS for mode in modes
            }
            count, total = 0, len(runs) * rounds
            for block in blocks:
                if block is not blocks[0]:
                    stack.close()
                    yield BenchStep(
                        count, total, N_("starting again with MTP {mode}", mode=block[0])
                    )
                    model = stack.enter_context(
                        self._lease(entry, replace(settings, mtp=block[0]), progress, cancel)
                    )
                for mode in block:
                    answers(model, prompts["chat"][0], mode, _WARM_UP, cancel)
                for number in range(rounds):
                    # The modes take turns to go first, so that none has a steady advantage.
                    first = number % len(block)
                    for kind in KINDS:
                        for mode in (*block[first:], *block[:first]):
                            step = N_(
                                "{kind}, MTP {mode}, round {round}",
                                kind=KIND_WORDS[kind],
                                mode=mode,
                                round=number + 1,
                            )
                            yield BenchStep(count, total, step)
                            run = answers(model, prompts[kind][0], mode, tokens, cancel)
                            if cancel.cancelled:
                                return
                            runs[kind, mode].append(run)
                            count += 1
        kinds = tuple(
            kind_result(kind, {mode: runs[kind, mode] for mode in modes}) for kind in KINDS
        )
        yield BenchResult(
            model=entry.id,
            engine=model.engine_name,
            device=model.loaded.device,
            context=model.loaded.context,
            mtp_line=model.loaded.mtp_line,
            rounds=rounds,
            concurrency=1,
            kinds=kinds,
            runs_on=entry.engine,
        )

    def compare(
        self,
        entry: ModelEntry,
        settings: Settings,
        depths: Sequence[Sequence[int]],
        tokens: int,
        progress: Progress,
        cancel: CancelToken,
    ) -> Iterator[BenchStep | PromptComparison]:
        """Answer prompts of all kinds greedily with and without MTP, up to `tokens` each.

        An engine that must restart to change its drafting does so once without drafts and once for
        each depth, not for each prompt. Ends early when cancelled. Raises EngineError,
        MtpUnavailable or Cancelled.

        Args:
            depths: The depths to compare for each prompt in turn; repeated from the start if there
                are fewer than prompts.
        """
        texts = [text for pair in prompts_for(entry).values() for text in pair]
        work = [
            (number, text, depth)
            for number, text in enumerate(texts, start=1)
            for depth in depths[(number - 1) % len(depths)]
        ]
        if entry.engine == "vllm":
            starts = RestartingMeasurement(
                lambda chosen, depth: self._lease(entry, chosen, progress, cancel, depth)
            )
            yield from starts.compare(settings, work, tokens, cancel)
            return
        with self._lease(entry, settings, progress, cancel) as model:
            for count, (number, text, depth) in enumerate(work):
                yield BenchStep(count, len(work), _prompt_words(number, len(texts), depth))
                request = replace(greedy(text, "on", tokens), depth=depth)
                check = model.check_mtp(request, depth, cancel)
                if cancel.cancelled:
                    return
                yield PromptComparison(number, check)

    def _lease(
        self,
        entry: ModelEntry,
        settings: Settings,
        progress: Progress,
        cancel: CancelToken,
        depth: int | None = None,
    ) -> Lease:
        load_options = load_options_of(settings, entry.engine, depth)
        return self._runtime.lease(entry, load_options, progress, cancel, exclusive=True)


def _blocks(
    modes: Sequence[MtpMode], switch: MtpSwitch
) -> tuple[tuple[MtpMode, ...], tuple[tuple[MtpMode, ...], ...]]:
    """Return the modes that differ, and the groups of modes that need no restart in between."""
    if switch == "request":
        return tuple(modes), (tuple(modes),)
    if switch == "server":
        return (modes[-1],), ((modes[-1],),)
    # An engine that drafts from its start always drafts, so auto is the same as on. For the others
    # auto is the same as off, because only on makes them guess copied text.
    equal_to_auto = "on" if switch == "restart" else "off"
    different = tuple(mode for mode in modes if mode != "auto" or equal_to_auto not in modes)
    return different, tuple((mode,) for mode in different)
