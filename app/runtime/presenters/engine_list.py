"""The engines for the window: their state, their installation, and the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.tasks import ENGINE, SYSTEM, Failed, Task, Tasks
from app.models.library.values.entry import ModelEntry
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineUnavailable

if TYPE_CHECKING:
    from app.models.discover.values.counterparts import Counterpart
    from app.runtime.values.advice import Advice, System
    from app.runtime.values.installation import (
        Check,
        Device,
        InstallState,
        LockName,
        Step,
        WorkerState,
    )

T = TypeVar("T")

INSTALLATION = "installation"
TRIALS = "device trials"
"""Task queues of their own: an installation and a device trial take minutes."""


class Installer(Protocol):
    """The part of `app.runtime.services.installer.EngineInstaller` that the window uses."""

    def usual_lock(self) -> LockName:
        """Return the name of the locked versions that suit this computer."""

    def state(self) -> InstallState:
        """Return which version is installed, and what remains of others."""

    def check(self, name: LockName) -> Check:
        """Return what an installation needs and what prevents it."""

    def install(
        self, name: LockName, report: Callable[[Step], None], cancel: CancelToken
    ) -> object:
        """Install vLLM and switch to it, reporting each step. Raises Cancelled."""

    def rollback(self) -> object:
        """Switch to the version that was installed before."""

    def remove(self) -> object:
        """Remove all versions, downloaded files and caches."""


class Manager(Protocol):
    """The part of `app.runtime.services.manager.EngineManager` that the window uses."""

    system: System

    def devices(self, *, again: bool) -> tuple[Device, ...]:
        """Return the graphics cards; `again` repeats trials that failed."""

    def advise(self) -> Advice:
        """Return which engine suits this computer, with the reasons."""

    def counterparts(self, entry: ModelEntry) -> tuple[Counterpart, ...]:
        """Return the files with which other engines run the same model."""

    def fetch(self, other: Counterpart) -> None:
        """Download the files of a model for another engine."""

    def worker(self) -> WorkerState:
        """Return the state of vLLM's worker process."""

    def stop_worker(self) -> None:
        """Unload vLLM's model after the queued answers, and end its workers."""

    def free_memory(self) -> None:
        """Unload all models after the queued answers, and end unused workers."""


class EngineList(QObject):
    """The engines.

    Signals:
        stood(InstallState): The state of vLLM's installation was read.
        stepped(Step): An installation has made progress.
        ended(): An installation has ended, successfully or not.
        devices_known(tuple of Device): The devices were listed.
        devices_unknown(error): llama.cpp cannot list its devices.
        advised(Advice): The advice on engines is ready.
        worker_seen(WorkerState): The worker's state was read.
        failed(error): Reading or installing failed; an error for the user, or a bug of ours.
    """

    stood = Signal(object)
    stepped = Signal(object)
    ended = Signal()
    devices_known = Signal(object)
    devices_unknown = Signal(Exception)
    advised = Signal(object)
    worker_seen = Signal(object)
    failed = Signal(Exception)
    _step = Signal(object)

    def __init__(
        self,
        installer: Installer,
        manager: Manager,
        stop_answers: Callable[[], object],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        """Create the presenter.

        Args:
            stop_answers: Ends all answers, so that an engine can be stopped.
        """
        super().__init__(parent)
        self._installer = installer
        self._manager = manager
        self._stop_answers = stop_answers
        self._tasks = tasks
        self._installing: Task | None = None
        self._looking = False
        self._step.connect(self._pass_on)

    @property
    def system(self) -> System:
        """The operating system: "linux", "macos" or "windows"."""
        return self._manager.system

    @property
    def is_installing(self) -> bool:
        """True if an installation is running."""
        return self._installing is not None

    def refresh(self) -> None:
        """Read the state of vLLM, the worker and the devices, and the advice."""
        self.refresh_vllm()
        self.refresh_worker()
        self.refresh_devices()
        self._ask(self._manager.advise, self.advised.emit, SYSTEM)

    def refresh_vllm(self, failed: Failed | None = None) -> None:
        """Read vLLM's state, except during an installation, which reports its own steps."""
        if not self.is_installing:
            self._tasks.run(
                self._installer.state, self.stood.emit, failed or self.failed.emit, on=INSTALLATION
            )

    def refresh_devices(self, *, again: bool = False) -> None:
        """Report the graphics cards; `again` repeats trials that failed."""

        def failed(error: Exception) -> None:
            unknown = isinstance(error, EngineUnavailable)
            (self.devices_unknown if unknown else self.failed).emit(error)

        self._tasks.run(
            lambda: self._manager.devices(again=again), self.devices_known.emit, failed, on=TRIALS
        )

    def refresh_worker(self) -> None:
        """Read the worker's state, unless a read is still running."""
        if self._looking:
            return
        self._looking = True

        def show(worker: WorkerState) -> None:
            self._looking = False
            self.worker_seen.emit(worker)

        def failed(error: Exception) -> None:
            self._looking = False
            self.failed.emit(error)

        self._tasks.run(self._manager.worker, show, failed, on=SYSTEM)

    def find_counterparts(
        self, entry: ModelEntry, done: Callable[[tuple[Counterpart, ...]], object], failed: Failed
    ) -> None:
        """Find the same model for other engines."""
        self._tasks.run(lambda: self._manager.counterparts(entry), done, failed, on=SYSTEM)

    def fetch(self, other: Counterpart, failed: Failed) -> None:
        """Download a counterpart and its drafter."""
        self._tasks.run(lambda: self._manager.fetch(other), lambda _: None, failed, on=INSTALLATION)

    def check(self, done: Callable[[Check], object], failed: Failed) -> None:
        """Check what an installation of vLLM needs and takes, without changing anything."""
        self._tasks.run(
            lambda: self._installer.check(self._installer.usual_lock()),
            done,
            failed,
            on=INSTALLATION,
        )

    def install(self) -> None:
        """Install vLLM or continue an installation; `cancel` ends it."""
        if self._installing is not None:
            return

        def work(cancel: CancelToken) -> Iterator[None]:
            self._installer.install(self._installer.usual_lock(), self._step.emit, cancel)
            yield None

        def over() -> None:
            self._installing = None
            self.ended.emit()
            self.refresh()

        def broke(error: Exception) -> None:
            over()
            if not isinstance(error, Cancelled):
                self.failed.emit(error)

        self._installing = self._tasks.stream(work, lambda _: None, over, broke, on=INSTALLATION)

    def cancel(self) -> None:
        """Cancel the installation; what has been downloaded is kept for a later one."""
        if self._installing is not None:
            self._installing.cancel()

    def roll_back(self, failed: Failed) -> None:
        """Return to the previous version, after stopping the worker of the current one."""
        self._change(self._installer.rollback, failed)

    def remove(self, failed: Failed) -> None:
        """Remove all versions of vLLM."""
        self._change(self._installer.remove, failed)

    def stop_worker(self, done: Callable[[], object] = lambda: None, *, failed: Failed) -> None:
        """End all answers, then stop the worker."""
        self._end(self._manager.stop_worker, done, failed)

    def free_memory(self, done: Callable[[], object], failed: Failed) -> None:
        """Unload everything that Hearth has loaded."""
        self._end(self._manager.free_memory, done, failed)

    def _end(self, work: Callable[[], None], done: Callable[[], object], failed: Failed) -> None:
        def ended(_: None) -> None:
            self.refresh_worker()
            done()

        self._stop_answers()
        self._tasks.run(work, ended, failed, on=ENGINE)

    def _change(self, work: Callable[[], object], failed: Failed) -> None:
        def change() -> None:
            self._tasks.run(work, lambda _: self.refresh(), failed, on=INSTALLATION)

        self.stop_worker(change, failed=failed)

    def _pass_on(self, step: Step) -> None:
        """Emit a step, unless the installation has ended: its end can overtake a step."""
        if self._installing is not None:
            self.stepped.emit(step)

    def _ask(self, work: Callable[[], T], done: Callable[[T], None], on: str) -> None:
        self._tasks.run(work, done, self.failed.emit, on=on)
