"""Measurements of many chats at once: the speed of all together, and of each.

Tokens are those that the engine counts, however they are grouped into pieces. The time that a chat
waits for its turn is included.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import median
from time import perf_counter

from app.activity.services.measuring.answering import answers
from app.activity.services.measuring.prompts import prompts_for
from app.activity.values.bench_results import BenchStep
from app.models.library.services.load_options import load_options_of
from app.models.library.values.entry import ModelEntry
from app.runtime.services.lease import Lease
from app.runtime.services.runtime import Runtime
from app.runtime.values.advice import MeasuredSpeed
from app.settings.values.fields import Settings
from engines.base import Progress
from engines.cancel import CancelToken
from engines.sentences import N_
from engines.types import EngineName, LoadedModel, MtpMode


@dataclass(frozen=True)
class Level:
    """The speeds with this many chats at once, in tokens per second, as medians over the rounds.

    Attributes:
        total_tok_s: Of all chats together.
        chat_tok_s: Of the median chat, from the moment when all were asked.
        decode_tok_s: Of an answer while it is being written.
        tokens: The number of tokens in all rounds.
    """

    chats: int
    total_tok_s: float
    chat_tok_s: float
    decode_tok_s: float
    tokens: int


@dataclass(frozen=True)
class ManyResult:
    """The result of `ManyBench.measure`.

    Attributes:
        side_by_side: How many answers the engine writes at once; further ones wait.
        note: A sentence on what this means for the figures.
    """

    model: str
    runs_on: EngineName
    device: str
    context: int
    mtp: MtpMode
    rounds: int
    side_by_side: int
    note: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class _Chat:
    """The measurement of one chat.

    Attributes:
        tokens: The number of tokens written for it.
        ended: When it ended, in seconds after all were asked.
    """

    tokens: int
    ended: float
    decode_tok_s: float


class ManyBench:
    """Measurements of many chats on threads of their own; the model has the engine to itself."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def measure(
        self,
        entry: ModelEntry,
        settings: Settings,
        counts: Sequence[int],
        tokens: int,
        rounds: int,
        progress: Progress,
        cancel: CancelToken,
    ) -> Iterator[BenchStep | ManyResult]:
        """Measure each number of chats at once, with at least `tokens` each.

        Ends early, without a result, when cancelled. Raises EngineError or Cancelled.
        """
        settings = replace(settings, vllm_parallel=max(counts), answers_at_once=max(counts))
        texts = [text for pair in prompts_for(entry).values() for text in pair]
        load_options = load_options_of(settings, entry.engine)
        with self._runtime.lease(entry, load_options, progress, cancel, exclusive=True) as model:
            loaded = model.loaded
            _chat(model, texts[0], settings.mtp, 1, perf_counter(), cancel)
            levels = []
            for number, chats in enumerate(counts):
                round_results = []
                for round_number in range(rounds):
                    step = N_("{chats} at once, round {round}", chats=chats, round=round_number + 1)
                    yield BenchStep(number * rounds + round_number, len(counts) * rounds, step)
                    # Each round begins with another question, so that few chats do not all get one
                    # kind of text.
                    prompts = [texts[(round_number + index) % len(texts)] for index in range(chats)]
                    width = min(chats, loaded.answers_at_once)
                    round_results.append(
                        _round(model, prompts, settings.mtp, tokens, width, cancel)
                    )
                    if cancel.cancelled:
                        return
                levels.append(_level(chats, round_results))
        yield ManyResult(
            model=entry.id,
            runs_on=entry.engine,
            device=loaded.device,
            context=loaded.context,
            mtp=settings.mtp,
            rounds=rounds,
            side_by_side=loaded.answers_at_once,
            note=_note(entry.engine, loaded, max(counts)),
            levels=tuple(levels),
        )


def _round(
    model: Lease,
    texts: Sequence[str],
    mtp: MtpMode,
    tokens: int,
    width: int,
    cancel: CancelToken,
) -> list[_Chat]:
    """Answer all chats once; if one fails, stop the others and raise its error."""
    start = perf_counter()
    if width == 1:
        return [_chat(model, text, mtp, tokens, start, cancel) for text in texts]
    with _linked_token(cancel) as round_cancel, ThreadPoolExecutor(width) as pool:

        def chat(text: str) -> _Chat:
            try:
                return _chat(model, text, mtp, tokens, start, round_cancel)
            except BaseException:
                round_cancel.cancel()
                raise

        futures: list[Future[_Chat]] = [pool.submit(chat, text) for text in texts]
        wait(futures)
        return [future.result() for future in futures]


def _chat(
    model: Lease, text: str, mtp: MtpMode, tokens: int, began: float, cancel: CancelToken
) -> _Chat:
    """Answer one chat repeatedly until there are enough tokens."""
    done_events = answers(model, text, mtp, tokens, cancel).dones
    speeds = [event.timing.decode_tok_s for event in done_events if event.timing.decode_tok_s > 0]
    written = sum(event.usage.completion_tokens for event in done_events)
    return _Chat(written, perf_counter() - began, median(speeds) if speeds else 0.0)


def speeds_of(result: ManyResult, model: str) -> tuple[MeasuredSpeed, ...]:
    """Return the speeds for the comparison of engines; for one chat, the decoding speed.

    Args:
        model: A name that is the same for every engine that has the model.
    """
    return tuple(
        MeasuredSpeed(
            result.runs_on,
            model,
            level.chats,
            level.total_tok_s if level.chats > 1 else level.decode_tok_s,
        )
        for level in result.levels
    )


@contextmanager
def _linked_token(cancel: CancelToken) -> Iterator[CancelToken]:
    """Yield a token that is cancelled with this one, and can also be cancelled alone."""
    inner = CancelToken()
    forget = cancel.on_cancel(inner.cancel)
    try:
        yield inner
    finally:
        forget()


def _level(chats: int, rounds: Sequence[Sequence[_Chat]]) -> Level:
    chats_measured = [chat for round_chats in rounds for chat in round_chats]
    return Level(
        chats=chats,
        total_tok_s=median(
            sum(chat.tokens for chat in round_chats) / max(chat.ended for chat in round_chats)
            for round_chats in rounds
        ),
        chat_tok_s=median(chat.tokens / chat.ended for chat in chats_measured),
        decode_tok_s=median(chat.decode_tok_s for chat in chats_measured),
        tokens=sum(chat.tokens for chat in chats_measured),
    )


def _note(engine: EngineName, loaded: LoadedModel, most: int) -> str:
    if engine == "remote":
        return N_("All are sent at once; the server decides how many it answers at the same time.")
    if loaded.answers_at_once == 1 and most > 1:
        return N_("The engine answers one after the other, so the others wait for their turn.")
    return N_("All are answered at the same time.")
