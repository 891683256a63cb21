"""Comparing answers on an engine that restarts, for about a minute, to change its drafting."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

import pytest

from app.activity.services.measuring.bench import Bench
from app.activity.services.measuring.prompts import KINDS
from app.models.library.values.entry import STARTER_CHECKPOINT, ModelEntry
from app.models.library.values.same_answer import PromptComparison
from app.runtime.services.runtime import Runtime
from app.runtime.services.vllm_loader import VllmLoader
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.errors import MtpUnavailable
from engines.hardware import detect
from engines.types import ChatRequest, Done, Event, ReasoningDelta
from tests.engines.vllm.faked import ASSISTANT as DRAFTER
from tests.engines.vllm.faked import TARGET
from tests.support.houses import ScriptedWorker

ENTRY = ModelEntry(
    STARTER_CHECKPOINT, "Guide for vLLM", TARGET, builtin=True, drafter=DRAFTER, engine="vllm"
)
PROMPTS = 2 * len(KINDS)


class Worker(ScriptedWorker):
    """A scripted worker that drafts.

    Attributes:
        apart: Number of the drafted answer whose reasoning differs; 0 for none.
    """

    apart = 0
    drafted = 0

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        self.drafted += request.mtp == "on"
        if request.mtp == "on" and self.drafted == self.apart:
            yield ReasoningDelta("Otherwise. ")
        for event in super().chat(request, cancel):
            yield (
                replace(event, mtp=replace(event.mtp, accepted=3))
                if isinstance(event, Done)
                else event
            )


@pytest.fixture
def worker() -> Worker:
    return Worker(("One ", "two."))


@pytest.fixture
def bench(worker: Worker) -> Iterator[Bench]:
    runtime = Runtime({"vllm": VllmLoader(lambda: worker, lambda: "cpu", detect)})
    yield Bench(runtime)
    runtime.unload()


def compare(bench: Bench, depths: tuple[tuple[int, ...], ...]) -> list[PromptComparison]:
    found = bench.compare(ENTRY, Settings(), depths, 16, lambda _: None, CancelToken())
    return [it for it in found if isinstance(it, PromptComparison)]


def test_it_starts_once_for_each_depth(bench: Bench, worker: Worker) -> None:
    found = compare(bench, ((1, 2, 4, 8),))
    assert len(found) == 4 * PROMPTS
    assert all(it.check.identical and it.check.tokens == 2 for it in found)
    assert {it.check.accepted for it in found} == {3}
    assert [plan.draft_max for plan in worker.plans] == [0, 1, 2, 4, 8]
    assert not worker.checked, "that would be two starts for each prompt"


def test_prompts_may_have_depths_of_their_own(bench: Bench, worker: Worker) -> None:
    found = compare(bench, ((1,), (2,)))
    assert sorted((it.prompt, it.check.depth) for it in found) == [
        (number, 1 if number % 2 else 2) for number in range(1, PROMPTS + 1)
    ]


def test_other_thoughts_are_another_answer(bench: Bench, worker: Worker) -> None:
    worker.apart = 3
    found = compare(bench, ((2,),))
    assert [it.prompt for it in found if not it.check.identical] == [3]
    assert found[2].check.tokens == 0


def test_where_nothing_drafts_it_is_said(bench: Bench, worker: Worker) -> None:
    load = worker.load
    worker.load = lambda *of: replace(load(*of), mtp="none")  # type: ignore[method-assign]
    with pytest.raises(MtpUnavailable):
        compare(bench, ((2,),))
