"""The engines, for the window: what they need, looking after them, and the worker that runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal

from app.core.models.entry import ModelEntry
from app.presenters.tasks import ENGINE, SYSTEM, Task, Tasks
from engines.cancel import CancelToken
from engines.errors import Cancelled

if TYPE_CHECKING:
    from app.core.engines.advice import Advice, System
    from app.core.engines.care import Check, EngineState, Profile, Step
    from app.core.models.counterparts import Counterpart

T = TypeVar("T")

CARE = "engine care"
TRIALS = "device trials"
"""Their own queues: an installation, and trying a device, take minutes."""


@dataclass(frozen=True)
class Device:
    """What llama.cpp can compute on. name: as settings have it. why: a sentence, if refused.

    total_bytes, free_bytes: 0 where it does not say. usual: used where the settings name none.
    """

    name: str
    title: str
    total_bytes: int
    free_bytes: int
    state: Literal["untried", "works", "refused"]
    why: str = ""
    usual: bool = True


@dataclass(frozen=True)
class WorkerState:
    """The worker of vLLM. words, share: how far its start is. memory_bytes: what it holds.

    memory_once: what its processes share is counted once in that, and not for each of them.
    idle_s: since its last answer; stops_after_s: when it is ended for that, 0 never. log: its last
    lines.
    """

    state: Literal["stopped", "starting", "ready"]
    model: str = ""
    words: str = ""
    share: float = 0.0
    memory_bytes: int = 0
    memory_once: bool = True
    idle_s: float = 0.0
    stops_after_s: float = 0.0
    log: tuple[str, ...] = ()


class Care(Protocol):
    """`app.services.engines.installer.EngineInstaller`, as far as the window uses it."""

    def usual_profile(self) -> Profile: ...
    def state(self) -> EngineState: ...
    def check(self, profile: Profile) -> Check: ...
    def install(
        self, profile: Profile, tell: Callable[[Step], None], cancel: CancelToken
    ) -> object: ...
    def rollback(self) -> object: ...
    def remove(self) -> object: ...


class Seams(Protocol):
    """What the engines know of themselves; each may take its time.

    devices: again: those that were refused are tried once more. advise: which engine suits.
    counterparts: the same model on other engines; fetch downloads one.
    stop_worker, free_memory: after the answers that are there.
    """

    system: System

    def devices(self, *, again: bool) -> tuple[Device, ...]: ...
    def advise(self) -> Advice: ...
    def counterparts(self, entry: ModelEntry) -> tuple[Counterpart, ...]: ...
    def fetch(self, other: Counterpart) -> None: ...
    def worker(self) -> WorkerState: ...
    def stop_worker(self) -> None: ...
    def free_memory(self) -> None: ...


class EngineList(QObject):
    """Signals bring what the verbs have found, failed an error in three parts or a bug of ours.

    stood(EngineState), checked(Check): of vLLM. stepped(Step): how far its installation is;
    ended(): it is over, well or not. devices_known(tuple of Device). advised(Advice).
    worker_seen(WorkerState). elsewhere(model id, tuple of Counterpart).
    """

    stood = Signal(object)
    checked = Signal(object)
    stepped = Signal(object)
    ended = Signal()
    devices_known = Signal(object)
    advised = Signal(object)
    worker_seen = Signal(object)
    elsewhere = Signal(str, object)
    failed = Signal(Exception)
    _told = Signal(object)

    def __init__(
        self,
        care: Care,
        seams: Seams,
        stop_answers: Callable[[], object],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        """stop_answers: ends all answers, so that an engine can be stopped."""
        super().__init__(parent)
        self._care = care
        self._seams = seams
        self._stop_answers = stop_answers
        self._tasks = tasks
        self._installing: Task | None = None
        self._looking = False
        self._told.connect(self._pass_on)

    @property
    def system(self) -> System:
        return self._seams.system

    @property
    def is_installing(self) -> bool:
        return self._installing is not None

    def look(self) -> None:
        """How vLLM stands, what there is to compute on, and which engine suits."""
        self.look_at_vllm()
        self.look_at_worker()
        self.look_at_devices()
        self._ask(self._seams.advise, self.advised.emit, SYSTEM)

    def look_at_vllm(self) -> None:
        """As it stands; while it is being installed the steps of that say it."""
        if not self.is_installing:
            self._ask(self._care.state, self.stood.emit, CARE)

    def look_at_devices(self, *, again: bool = False) -> None:
        self._ask(lambda: self._seams.devices(again=again), self.devices_known.emit, TRIALS)

    def look_at_worker(self) -> None:
        """One look at a time: it may be asked for more often than it can be answered."""
        if self._looking:
            return
        self._looking = True

        def seen(worker: WorkerState) -> None:
            self._looking = False
            self.worker_seen.emit(worker)

        def failed(error: Exception) -> None:
            self._looking = False
            self.failed.emit(error)

        self._tasks.run(self._seams.worker, seen, failed, on=SYSTEM)

    def look_elsewhere(self, entry: ModelEntry) -> None:
        """For the same model on other engines."""
        self._ask(
            lambda: self._seams.counterparts(entry),
            lambda found: self.elsewhere.emit(entry.id, found),
            SYSTEM,
        )

    def fetch(self, other: Counterpart) -> None:
        """Put the files of a counterpart, and of its drafter, among the downloads."""
        self._ask(lambda: self._seams.fetch(other), lambda _: None, CARE)

    def check(self) -> None:
        """What an installation of vLLM would need and take; nothing is changed."""
        self._ask(lambda: self._care.check(self._care.usual_profile()), self.checked.emit, CARE)

    def install(self) -> None:
        """Install vLLM, or go on with it; `cancel` ends it."""
        if self._installing is not None:
            return

        def work(cancel: CancelToken) -> Iterator[None]:
            self._care.install(self._care.usual_profile(), self._told.emit, cancel)
            yield None

        def over() -> None:
            self._installing = None
            self.ended.emit()
            self.look()

        def broke(error: Exception) -> None:
            over()
            if not isinstance(error, Cancelled):
                self.failed.emit(error)

        self._installing = self._tasks.stream(work, lambda _: None, over, broke, on=CARE)

    def cancel(self) -> None:
        """End the installation; what has come of it stays, so that it can go on later."""
        if self._installing is not None:
            self._installing.cancel()

    def roll_back(self) -> None:
        """The worker is stopped first: it runs from what is put out of use."""
        self.stop_worker(lambda: self._change(self._care.rollback))

    def remove(self) -> None:
        self.stop_worker(lambda: self._change(self._care.remove))

    def stop_worker(self, then: Callable[[], object] = lambda: None) -> None:
        """End all answers, then the worker. then: called once it has ended."""
        self._end(self._seams.stop_worker, then)

    def free_memory(self, then: Callable[[], object] = lambda: None) -> None:
        """Unload whatever Hearth has loaded. then: called once that is done."""
        self._end(self._seams.free_memory, then)

    def _end(self, work: Callable[[], None], then: Callable[[], object]) -> None:
        def done(_: None) -> None:
            self.look_at_worker()
            then()

        self._stop_answers()
        self._ask(work, done, ENGINE)

    def _change(self, work: Callable[[], object]) -> None:
        self._ask(work, lambda _: self.look(), CARE)

    def _pass_on(self, step: Step) -> None:
        """It comes from the thread of the installation, whose end can be here first."""
        if self._installing is not None:
            self.stepped.emit(step)

    def _ask(self, work: Callable[[], T], told: Callable[[T], None], on: str) -> None:
        self._tasks.run(work, told, self.failed.emit, on=on)
