"""One installation of an engine, from downloading its files to a working environment."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.base.errors import DiskFull, EngineNotMade, Offline
from app.base.folder import as_user_errors
from app.runtime.packages.config import Indexes
from app.runtime.packages.fetch import PackageFetcher, Progress
from app.runtime.packages.lookup import Lookup, local
from app.runtime.values.installation import Phase, Step
from engines.cancel import CancelToken
from engines.sentences import N_
from engines.vllm.provision.child import CommandFailed
from engines.vllm.provision.environment import EnvironmentMaker, LocalMaker, uv
from engines.vllm.provision.home import EngineHome, Installed
from engines.vllm.provision.lock import Lock, LockedFile, LockName, Pythons, TargetSystem
from engines.vllm.provision.preflight import SystemInfo
from engines.vllm.provision.users import in_use

Report = Callable[[Step], None]
"""Called with each step of an installation."""

_NO_ROOM_WORDS = N_("No space left on device")


@contextmanager
def make_locally(
    home: EngineHome, lock: Lock, _target: TargetSystem, holding: int, cancel: CancelToken
) -> Iterator[EnvironmentMaker]:
    """Begin to make an environment on this Linux."""
    yield LocalMaker(home, lock, home.files(lock), uv(), holding, cancel)


@dataclass(frozen=True)
class InstallSources:
    """The sources of an installation: real in the app, replaced in tests.

    Attributes:
        lock: Returns the lock with a name.
        look: Examines this computer, for the given versions of Python.
        indexes: Returns the user's package indexes.
        lookup: Returns a lookup in these indexes.
        fetcher: Fetches the files.
        offline: Returns whether connections are forbidden.
        in_use: Returns whether a process runs from an environment.
        making: Returns the steps that make an environment for a target from files that are here;
            the number is the one that `alone` returned.
        tools: Returns files that are needed besides those of the lock.
    """

    lock: Callable[[LockName], Lock]
    look: Callable[[Pythons], SystemInfo]
    indexes: Callable[[], Indexes]
    lookup: Callable[[Indexes], Lookup]
    fetcher: PackageFetcher
    offline: Callable[[], bool]
    in_use: Callable[[Installed], bool] = lambda installed: in_use(installed.folder)
    making: Callable[
        [EngineHome, Lock, TargetSystem, int, CancelToken], AbstractContextManager[EnvironmentMaker]
    ] = make_locally
    tools: Callable[[TargetSystem], tuple[LockedFile, ...]] = lambda _: ()


class Installing:
    """One installation; its caller holds the lock of the home."""

    def __init__(
        self,
        home: EngineHome,
        lock: Lock,
        target: TargetSystem,
        sources: InstallSources,
        report: Report,
        cancel: CancelToken,
    ) -> None:
        self._home = home
        self._lock = lock
        self._target = target
        self._sources = sources
        self._report = report
        self._cancel = cancel

    def carry_out(self, holding: int) -> Installed:
        """Make the environment and test it. Downloaded files stay if this fails.

        Args:
            holding: See `alone`.

        Raises:
            Cancelled: The user cancelled.
            AppError: It failed.
        """
        with _explained_steps(self._lock, self._home.root):
            self._download()
            with self._sources.making(
                self._home, self._lock, self._target, holding, self._cancel
            ) as making:
                self._fill(making)
                self._fetch_kernels(making)
                self._report_step("try", 0.0, N_("Testing vLLM."))
                making.test()
                self._report_step("try", 1.0, N_("vLLM works."))
                return making.finish()

    def fetch_kernels(self, holding: int) -> None:
        """Fetch compiled kernels into the existing environment.

        Args:
            holding: See `alone`.
        """
        with self._sources.making(
            self._home, self._lock, self._target, holding, self._cancel
        ) as making:
            self._fetch_kernels(making)

    def _download(self) -> None:
        indexes = self._sources.indexes()
        files = (*self._lock.chosen(self._target), *self._sources.tools(self._target))
        folder = self._home.files(self._lock)
        is_local = _all_local(indexes) or all((folder / file.name).exists() for file in files)
        if self._sources.offline() and not is_local:
            raise Offline(
                N_("vLLM cannot be installed while Hearth is offline."),
                N_("“Stay offline” is on, and its files come from a package index."),
                N_("Turn “Stay offline” off to install it."),
            )

        def show_progress(progress: Progress) -> None:
            words = progress.trouble or f"Getting {progress.name}"
            self._report_step("download", progress.done / max(1, progress.total), words)

        self._sources.fetcher.fetch(
            files, self._sources.lookup(indexes), folder, show_progress, self._cancel
        )

    def _fill(self, making: EnvironmentMaker) -> None:
        self._report_step("install", 0.0, N_("Creating the environment."))
        making.create(self._target.python)
        self._report_step("install", 0.1, N_("Unpacking the files."))
        making.fill()
        self._report_step("install", 1.0, N_("The environment is ready."))

    def _fetch_kernels(self, making: EnvironmentMaker) -> None:
        """Fetch compiled kernels. They only shorten the first start, so a failure is allowed."""
        if self._lock.profile != "cuda":
            return
        if self._sources.offline():
            self._report_step(
                "kernels", 1.0, N_("Offline: vLLM will compile kernels at its first start.")
            )
            return
        self._report_step("kernels", 0.0, N_("Downloading compiled kernels for this card."))
        try:
            making.fetch_kernels(lambda line: self._report_step("kernels", 0.5, line.strip()))
        except CommandFailed:
            words = N_(
                "There are no compiled kernels for this card: vLLM will compile them at its "
                "first start."
            )
        else:
            words = N_("The kernels are ready.")
        self._report_step("kernels", 1.0, words)

    def _report_step(self, phase: Phase, share: float, words: str) -> None:
        self._report(Step(phase, share, words))


def as_install_errors(folder: Path) -> AbstractContextManager[None]:
    """Turn the system's errors while writing into errors for the user."""
    do = N_(
        "Check the disk and allow writing to that folder, or set HEARTH_DATA_DIR to another one; "
        "what was downloaded is kept."
    )
    return as_user_errors(folder, full=_full(folder), do=do)


@contextmanager
def _explained_steps(lock: Lock, folder: Path) -> Iterator[None]:
    """Turn the errors of a step into those that `carry_out` raises."""
    try:
        yield
    except CommandFailed as error:
        if any(_NO_ROOM_WORDS in line for line in error.lines):
            raise _full(folder) from error
        raise EngineNotMade(
            N_("vLLM {version} could not be installed.", version=lock.version),
            N_("The last message was: {words}", words=error.last or error.status),
            N_("Nothing else was changed. Try again; if it fails again, please report it."),
        ) from error


def _full(folder: Path) -> DiskFull:
    return DiskFull(
        N_("The disk filled up while vLLM was being installed."),
        N_("There is no room left where {folder} is; what was downloaded is kept.", folder=folder),
        N_("Free some space, then install again, or remove vLLM to free its space."),
        terminal=N_(
            "Free some space, then install again; or run `hearth engines remove vllm` to give "
            "it back."
        ),
    )


def _all_local(indexes: Indexes) -> bool:
    return all(local(index) is not None for index in (*indexes.indexes, *indexes.links))
