"""Many requests at once: no model is unloaded during an answer, and no request waits for ever."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from app.models.library.values.entry import ModelEntry
from app.runtime.services.loaders import EngineLoader
from app.runtime.services.prepared_load import PreparedLoad
from app.runtime.services.runtime import Runtime
from app.runtime.values.wait import Wait
from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, EngineFailed
from engines.memory.load_options import LoadOptions
from engines.types import (
    ChatRequest,
    Done,
    EngineName,
    Event,
    LlamaPlan,
    LoadedModel,
    LoadPlan,
    Message,
)
from tests.support.scripted import ScriptedEngine
from tests.support.waiting import until

REQUEST = ChatRequest((Message("user", "Hi"),))
ENTRIES = [
    ModelEntry(f"{engine}-{name}", f"{engine} {name}", Path(f"{engine}-{name}"), engine=engine)
    for engine in ("llamacpp", "vllm", "remote")
    for name in ("one", "two")
]  # fmt: skip


class WatchedEngine(ScriptedEngine):
    """A scripted engine that records every broken rule.

    Attributes:
        memory: Names of the engines with a loaded model, shared by all that use the same memory.
        breaks: How many of a hundred answers and loads fail.
    """

    def __init__(self, name: EngineName, at_once: int, memory: set[str], wrong: list[str]) -> None:
        super().__init__(("one ", "two ", "three"))
        self.name = name
        self.at_once, self.memory, self.wrong = at_once, memory, wrong
        self.says = {"answers_at_once": at_once}
        self.breaks = 0
        self.dice = random.Random(name)
        self.lives = True
        self.starts = 0
        self.answering = 0
        self.most = 0
        self._lock = threading.Lock()

    def _note(self, is_wrong: bool, what: str) -> None:
        if is_wrong:
            self.wrong.append(f"{self.name}: {what}")

    def load(self, plan: LoadPlan, progress: Progress, cancel: CancelToken) -> LoadedModel:
        self._note(self.answering > 0, "loaded under an answer")
        self._note(bool(self.memory), "loaded beside what lies in the memory")
        time.sleep(0.001)
        if cancel.cancelled:
            raise Cancelled
        if self.dice.random() * 100 < self.breaks:
            raise EngineFailed("It was not loaded.", "A test wants it.", "Try again.")
        self.memory.add(self.name)
        self.lives = True
        self.starts += 1
        return super().load(plan, progress, cancel)

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        with self._lock:
            self.answering += 1
            self.most = max(self.most, self.answering)
            self._note(self.answering > self.at_once, "too many at once")
            self._note(self.memory != {self.name}, "answers with nothing, or another, in memory")
        try:
            for event in super().chat(request, cancel):
                time.sleep(0.0005)
                self._note(self.memory != {self.name}, "lost its model under an answer")
                if self.dice.random() * 300 < self.breaks:
                    self.lives = False
                if not self.lives:
                    raise EngineFailed("It ended.", "A test wants it.", "Try again.")
                yield event
        finally:
            with self._lock:
                self.answering -= 1

    def close(self) -> None:
        self._note(self.answering > 0, "closed under an answer")
        self.memory.discard(self.name)
        super().close()


class WatchedLoads(EngineLoader[WatchedEngine]):
    """A loader for a watched engine."""

    def __init__(self, engine: WatchedEngine, *, local: bool, at_once: int | None = None) -> None:
        super().__init__(lambda: engine)
        self.local = local
        self.at_once = at_once
        self.revived = 0

    def open(self, entry: ModelEntry) -> PreparedLoad[LlamaPlan]:
        return Planned(entry)

    def judge(self, *_: object) -> NoReturn:
        raise AssertionError

    def revive(self, _progress: Progress, _cancel: CancelToken) -> None:
        if self.engine.answering:
            self.engine.wrong.append(f"{self.engine.name}: revived under an answer")
        if not self.engine.lives:
            self.engine.lives = True
            self.revived += 1

    def well(self) -> bool:
        return self.engine.lives


class Planned(PreparedLoad[LlamaPlan]):
    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    def plan(self, _load_options: LoadOptions, _cancel: CancelToken) -> LlamaPlan:
        return LlamaPlan(self._entry.path, 512, 1, 1)


@dataclass
class Site:
    """A runtime with watched engines, and the failures in it."""

    engines: dict[EngineName, WatchedLoads]
    runtime: Runtime
    wrong: list[str] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)

    def begin(self, work: Callable[[], object]) -> threading.Thread:
        def carry_out() -> None:
            try:
                work()
            except (Cancelled, EngineError):
                pass  # tests cause these deliberately
            except BaseException as error:  # noqa: BLE001 - told by the test
                self.wrong.append(repr(error))

        thread = threading.Thread(target=carry_out)
        self.threads.append(thread)
        thread.start()
        return thread

    def end(self) -> None:
        for thread in self.threads:
            thread.join(60)
        assert not any(it.is_alive() for it in self.threads), "somebody waits for ever"
        assert self.wrong == []

    def answer(self, entry: ModelEntry, cancel: CancelToken, context: int | None = None) -> bool:
        """Return True if the answer came whole."""
        load_options = LoadOptions(context=context)
        with self.runtime.lease(entry, load_options, lambda _: None, cancel) as lease:
            events = list(lease.chat(REQUEST, cancel))
        return isinstance(events[-1], Done) and events[-1].finish_reason == "stop"


@pytest.fixture
def site() -> Iterator[Site]:
    wrong: list[str] = []
    memory: set[str] = set()
    engines = {
        "llamacpp": WatchedLoads(WatchedEngine("llamacpp", 1, memory, wrong), local=True),
        "vllm": WatchedLoads(WatchedEngine("vllm", 3, memory, wrong), local=True),
        "remote": WatchedLoads(WatchedEngine("remote", 9, set(), wrong), local=False, at_once=2),
    }
    engines["remote"].engine.at_once = 2
    made = Site(engines, Runtime(engines), wrong)  # type: ignore[arg-type]
    yield made
    made.end()


def test_many_answers_stops_and_crashes_at_random(site: Site) -> None:
    dice = random.Random(7)
    # Two answers are running when it begins, whatever the timing of the threads.
    beside = [
        site.runtime.lease(of("vllm"), LoadOptions(), lambda _: None, CancelToken())
        for _ in range(2)
    ]
    begun = [lease.chat(REQUEST, CancelToken()) for lease in beside]
    for events in begun:
        next(events)
    for it in site.engines.values():
        it.engine.breaks = 4
    tokens = [CancelToken() for _ in range(150)]
    whole: list[bool] = []

    def write(entry: ModelEntry, cancel: CancelToken, context: int | None) -> None:
        whole.append(site.answer(entry, cancel, context))

    for token in tokens:
        entry = dice.choice(ENTRIES)
        context = dice.choice([None, None, 1024])
        kind = dice.random()
        if kind < 0.04:
            site.begin(partial(site.runtime.stop, entry.engine))
        elif kind < 0.08:
            site.begin(partial(site.runtime.stop_idle, entry.engine, 0.001))
        elif kind < 0.16:
            site.begin(partial(spare, site, entry, token))
        else:
            site.begin(partial(write, entry, token, context))
        if dice.random() < 0.2:
            dice.choice(tokens).cancel()
        time.sleep(0.001)
    for lease, events in zip(beside, begun, strict=True):
        with suppress(EngineFailed), lease:  # the other answers may fail as well
            list(events)
    site.end()
    site.runtime.unload()
    assert sum(whole) > 40
    assert site.engines["vllm"].engine.most > 1
    assert all(site.runtime.loaded_model(name) is None for name in site.engines)


def spare(site: Site, entry: ModelEntry, cancel: CancelToken) -> None:
    lease = site.runtime.spare(entry, LoadOptions(), cancel)
    if lease is not None:
        with lease:
            list(lease.chat(REQUEST, cancel))


def of(engine: EngineName, name: str = "one") -> ModelEntry:
    return next(it for it in ENTRIES if it.id == f"{engine}-{name}")


def lent(site: Site, entry: ModelEntry, told: list[Wait | None]) -> threading.Event:
    """Lease a model on another thread and close it at once.

    A lease that has to wait has been told so when this returns.

    Returns:
        An event that is set once the lease is closed.
    """
    done, asked = threading.Event(), threading.Event()

    def tell(wait: Wait | None) -> None:
        told.append(wait)
        asked.set()

    turn = site.runtime.queue.join(tell)

    def work() -> None:
        site.runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken(), turn).close()
        done.set()
        asked.set()

    site.begin(work)
    assert asked.wait(30)
    return done


def test_two_are_beside_each_other_and_a_third_is_told_why_it_waits(site: Site) -> None:
    leases = [
        site.runtime.lease(of("remote"), LoadOptions(), lambda _: None, CancelToken())
        for _ in range(2)
    ]
    told: list[Wait | None] = []
    done = lent(site, of("remote"), told)
    local: list[Wait | None] = []
    assert lent(site, of("llamacpp"), local).wait(60), "another room is free"
    assert local == []
    until(lambda: told)
    assert not done.is_set()
    assert told == [Wait("full", "remote one", 2)]
    leases[0].close()
    assert done.wait(60)
    leases[1].close()
    assert told == [Wait("full", "remote one", 2), None]


def test_what_has_to_be_loaded_waits_for_the_answer_that_is_written(site: Site) -> None:
    lease = site.runtime.lease(of("llamacpp"), LoadOptions(), lambda _: None, CancelToken())
    told: list[Wait | None] = []
    done = lent(site, of("vllm"), told)
    until(lambda: told)
    assert not done.is_set()
    assert told == [Wait("model", "llamacpp one")]
    assert site.engines["llamacpp"].engine.closed == 0
    lease.close()
    assert done.wait(60)
    assert site.engines["llamacpp"].engine.closed == 1


def test_one_that_waits_is_stopped_at_once_and_alone(site: Site) -> None:
    lease = site.runtime.lease(of("llamacpp"), LoadOptions(), lambda _: None, CancelToken())
    cancel, told = CancelToken(), threading.Event()
    turn = site.runtime.queue.join(lambda _: told.set())
    stopped = threading.Event()

    def work() -> None:
        with pytest.raises(Cancelled):
            site.runtime.lease(of("llamacpp", "two"), LoadOptions(), lambda _: None, cancel, turn)
        stopped.set()

    site.begin(work)
    assert told.wait(60)
    cancel.cancel()
    assert stopped.wait(60)
    assert isinstance(list(lease.chat(REQUEST, CancelToken()))[-1], Done)
    lease.close()


def test_after_a_crash_one_restart_serves_all(site: Site) -> None:
    vllm, name = site.engines["vllm"], of("vllm")
    leases = [
        site.runtime.lease(name, LoadOptions(), lambda _: None, CancelToken()) for _ in range(2)
    ]
    chats = [lease.chat(REQUEST, CancelToken()) for lease in leases]
    for events in chats:
        next(events)
    vllm.engine.lives = False
    for events, lease in zip(chats, leases, strict=True):
        with pytest.raises(EngineFailed), lease:
            list(events)
    assert all(site.answer(name, CancelToken()) for _ in range(2))
    for _ in range(3):
        site.begin(lambda: site.answer(name, CancelToken()))
    site.end()
    assert (vllm.revived, vllm.engine.starts) == (1, 1)


def test_while_one_still_ends_nobody_restarts_beside_it(site: Site) -> None:
    vllm, name = site.engines["vllm"], of("vllm")
    first, second = (
        site.runtime.lease(name, LoadOptions(), lambda _: None, CancelToken()) for _ in range(2)
    )
    events = first.chat(REQUEST, CancelToken())
    next(events)
    vllm.engine.lives = False
    with pytest.raises(EngineFailed), first:
        list(events)
    told: list[Wait | None] = []
    done = lent(site, name, told)
    until(lambda: told)
    assert not done.is_set()
    assert vllm.revived == 0
    second.close()
    assert done.wait(60)
    assert vllm.revived == 1


def test_a_failed_load_leaves_its_place_to_the_next(site: Site) -> None:
    site.engines["llamacpp"].engine.breaks = 100
    with pytest.raises(EngineFailed):
        site.answer(of("llamacpp"), CancelToken())
    site.engines["llamacpp"].engine.breaks = 0
    assert site.answer(of("llamacpp"), CancelToken())


def test_a_model_that_is_not_loaded_any_more_is_not_spare(site: Site) -> None:
    assert site.answer(of("vllm"), CancelToken())
    spare = site.runtime.spare(of("vllm"), LoadOptions(), CancelToken())
    assert spare is not None
    spare.close()
    assert site.answer(of("llamacpp"), CancelToken())
    assert site.runtime.spare(of("vllm"), LoadOptions(), CancelToken()) is None
    assert site.runtime.loaded_model("llamacpp") == of("llamacpp")
