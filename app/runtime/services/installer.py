"""Installs vLLM for the user: checks, installs, updates, rolls back and removes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.base.errors import EngineHindered, EngineInUse, EngineNotInstalled
from app.base.units import MB
from app.runtime.services.installing import Installing, InstallSources, Report, as_install_errors
from app.runtime.values.installation import Check, InstallState, Phase, Price, Step
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.sentences import N_
from engines.vllm.provision.exclusive import exclusive
from engines.vllm.provision.home import EngineHome, Installed
from engines.vllm.provision.lock import Lock, LockedFile, LockName, TargetSystem
from engines.vllm.provision.preflight import Finding, SystemInfo, preflight

_UNKNOWN_BYTES = 500_000
"""The size assumed for a file of unknown size in a price; all large files have a known size."""

_DOWNLOAD_RATE = 6 * MB
_UNPACK_RATE = 25 * MB
"""Bytes a second of a typical connection and a typical disk, for a rough estimate of minutes."""

_TRY_MINUTES = 1


class EngineInstaller:
    """Manages vLLM's environments. Blocking; safe from several threads and processes.

    An installation that was killed is continued by the next one.
    """

    def __init__(self, home: EngineHome, sources: InstallSources) -> None:
        """Create the installer.

        Args:
            home: The folder of the environments.
            sources: The sources of an installation.
        """
        self.home = home
        self._sources = sources

    def usual_lock(self) -> LockName:
        """Return the name of the installed version's lock, or "cuda"."""
        now = self.home.current()
        return (now.lock or now.profile) if now is not None else "cuda"

    def state(self) -> InstallState:
        """Return the installed, previous and offered versions."""
        now, before = self.home.current(), self.home.previous()
        lock = self._sources.lock(self.usual_lock())
        found = self.home.find(lock)
        return InstallState(
            version=now.version if now else None,
            profile=now.profile if now else None,
            previous=before.version if before else None,
            offered=lock.version,
            unfinished_bytes=self.home.work_bytes,
            kept_bytes=self.home.kept_bytes,
            outdated=now is not None and (found is None or found.folder != now.folder),
        )

    def check(self, name: LockName) -> Check:
        """Check this computer and what an installation takes, without changing anything."""
        return self._check(self._sources.lock(name))

    def install(self, name: LockName, report: Report, cancel: CancelToken) -> Installed:
        """Install the lock's version and switch to it; the previous one stays for `rollback`.

        If its environment is complete already, only the compiled kernels for the card are fetched
        again, except inside WSL2. If this is killed or cancelled at any point, the version in use
        stays the same, and the next call continues.

        Raises Cancelled and AppError.
        """
        lock = self._sources.lock(name)
        report(Step("look", 0.0, N_("Checking this computer.")))
        with self._locked("look", report, cancel) as holding:
            self.home.tidy()
            found = self.home.find(lock)
            if found is None:
                found = self._make(lock, holding, report, cancel)
            elif lock.profile == "cuda" and not found.linux:
                self._installing(lock, report, cancel).fetch_kernels(holding)
            report(Step("switch", 0.0, N_("Switching to vLLM {version}.", version=lock.version)))
            self.home.switch(found)
            self.home.forget_work()
        report(Step("switch", 1.0, N_("vLLM {version} is now used.", version=lock.version)))
        return found

    def rollback(self) -> Installed:
        """Switch back to the previous version. Raises AppError."""
        with self._locked("switch", _ignore, CancelToken()):
            before = self.home.roll_back()
        if before is None:
            raise EngineNotInstalled(
                N_("There is no earlier vLLM to go back to."),
                N_("Only one version is installed, or none."),
                N_("Continue with the current one, or install vLLM under Engines."),
                terminal=N_("`hearth engines list` shows what is there."),
            )
        return before

    def remove(self) -> None:
        """Remove all versions, downloaded files and workers' caches. Raises AppError."""
        with self._locked("switch", _ignore, CancelToken()):
            for installed in self.home.installed():
                if self._sources.in_use(installed):
                    raise EngineInUse(
                        N_("vLLM {version} is running.", version=installed.version),
                        N_("Its files cannot be removed while a process works with them."),
                        N_("Close Hearth's window or choose another engine, then try again."),
                    )
            self.home.remove()

    def tidy(self) -> None:
        """Remove half-made environments of a killed installation, unless one is running."""
        if self.home.half_made:
            with suppress(Cancelled), self._locked("look", _ignore, _already()):
                self.home.tidy()

    def _check(self, lock: Lock) -> Check:
        system = self._sources.look(lock.pythons)
        if system.glibc is None:
            return Check(preflight(system, lock.profile, 0, lock.pythons), None)
        target = target_of(lock, system)
        try:
            files = (*lock.chosen(target), *self._sources.tools(target))
        except LookupError as error:
            findings = (*preflight(system, lock.profile, 0, lock.pythons), _no_file(system, error))
            return Check(findings, None)
        price = self._price(lock, files)
        findings = preflight(system, lock.profile, price.disk_bytes, lock.pythons)
        return Check(findings, price, system.wsl.name if system.wsl is not None else "")

    def _price(self, lock: Lock, files: tuple[LockedFile, ...]) -> Price:
        """Compute the price of the missing files; unknown sizes count as `_UNKNOWN_BYTES`."""
        if self.home.find(lock) is not None:
            return Price(0, 0, 0, 0)
        folder = self.home.files(lock)
        coming = [file for file in files if not (folder / file.name).exists()]
        size = sum(file.size or _UNKNOWN_BYTES for file in coming)
        seconds = size / _DOWNLOAD_RATE + lock.disk_bytes / _UNPACK_RATE
        return Price(
            download_bytes=size,
            # The files are kept until the environment is complete.
            disk_bytes=size + lock.disk_bytes,
            kept_bytes=lock.disk_bytes,
            minutes=round(seconds / 60) + _TRY_MINUTES,
        )

    def _make(self, lock: Lock, holding: int, report: Report, cancel: CancelToken) -> Installed:
        """Make the environment.

        Raises EngineHindered if a finding forbids it, and otherwise as `install` does.
        """
        finding = self._check(lock).hindrance
        if finding is not None:
            raise EngineHindered(finding.what, finding.why, finding.do)
        return self._installing(lock, report, cancel).carry_out(holding)

    def _installing(self, lock: Lock, report: Report, cancel: CancelToken) -> Installing:
        target = target_of(lock, self._sources.look(lock.pythons))
        return Installing(self.home, lock, target, self._sources, report, cancel)

    @contextmanager
    def _locked(self, phase: Phase, report: Report, cancel: CancelToken) -> Iterator[int]:
        """Hold the lock of the home; turn the system's errors into errors for the user."""

        def waiting() -> None:
            report(Step(phase, 0.0, N_("Waiting for another installation to finish.")))

        with (
            as_install_errors(self.home.root),
            exclusive(self.home.root, waiting, cancel) as holding,
        ):
            yield holding


def _ignore(_: Step) -> None:
    """Do nothing: a listener that ignores progress."""


def _already() -> CancelToken:
    """Return a cancelled token, so that nothing waits."""
    token = CancelToken()
    token.cancel()
    return token


def target_of(lock: Lock, system: SystemInfo) -> TargetSystem:
    """Return the system that an installation of this lock is for."""
    python = next((python for python in lock.pythons if python in system.pythons), lock.pythons[0])
    return TargetSystem(system.machine, system.glibc or (0, 0), python)


def _no_file(system: SystemInfo, error: LookupError) -> Finding:
    now = ".".join(map(str, system.glibc or ()))
    return Finding(
        False,
        N_("vLLM needs {error}, which is not available for this computer.", error=error),
        N_(
            "There is no build of it for {machine}, this Python and glibc {now}.",
            machine=system.machine,
            now=now,
        ),
        N_("Use a newer Linux, or connect to a vLLM on another computer."),
        "files",
    )
