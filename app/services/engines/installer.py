"""An engine that Hearth installs for its user: looked at, installed, switched, brought back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.core.engines.care import Check, EngineState, Phase, Price, Profile, Step
from app.core.errors import EngineHindered, EngineInUse, EngineNotInstalled
from app.services.engines.installing import Installing, InstallSources, Tell, explained
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.vllm.provision.alone import alone
from engines.vllm.provision.home import EngineHome, Installed
from engines.vllm.provision.lock import Lock, LockedFile, Target
from engines.vllm.provision.preflight import Facts, Finding, preflight

_MB = 1_000_000
_UNKNOWN_BYTES = 500_000
"""What a file of unknown size counts for in a price; the large ones have one."""

_DOWNLOAD_RATE = 6 * _MB
_UNPACK_RATE = 25 * _MB
"""Bytes a second of a usual line and a usual disk, for a rough guess of minutes."""

_TRY_MINUTES = 1


class EngineInstaller:
    """The care of vLLM's environments; blocking, for several threads and processes.

    home: where they lie. What an installation that was killed has left is gone on with by the next.
    """

    def __init__(self, home: EngineHome, ways: InstallSources) -> None:
        self.home = home
        self._ways = ways

    def usual_profile(self) -> Profile:
        """The one in use, or else the one for users."""
        now = self.home.current()
        return now.profile if now is not None else "cuda"

    def state(self) -> EngineState:
        now, before = self.home.current(), self.home.previous()
        return EngineState(
            version=now.version if now else None,
            profile=now.profile if now else None,
            previous=before.version if before else None,
            offered=self._ways.lock(self.usual_profile()).version,
            unfinished_bytes=self.home.work_bytes,
            kept_bytes=sum(it.size_bytes for it in self.home.installed()),
        )

    def check(self, profile: Profile) -> Check:
        """What this computer has and what an installation takes; nothing is changed."""
        return self._check(self._ways.lock(profile))

    def install(self, profile: Profile, tell: Tell, cancel: CancelToken) -> Installed:
        """Have the version of the lock in use; the one that was in use stays for `rollback`.

        Killed or cancelled at any point, what is in use is as before, and the next call goes on.
        Raises Cancelled, and AppError.
        """
        lock = self._ways.lock(profile)
        tell(Step("look", 0.0, "Looking at this computer."))
        with self._held("look", tell, cancel) as holding:
            self.home.tidy()
            found = self.home.found(lock)
            if found is None:
                found = self._made(lock, holding, tell, cancel)
            tell(Step("switch", 0.0, f"Putting vLLM {lock.version} in use."))
            self.home.switch(found)
            self.home.forget_work()
        tell(Step("switch", 1.0, f"vLLM {lock.version} is in use."))
        return found

    def rollback(self) -> Installed:
        """Put the version before this one in use. Raises AppError."""
        with self._held("switch", _unheard, CancelToken()):
            before = self.home.roll_back()
        if before is None:
            raise EngineNotInstalled(
                "There is no earlier vLLM to go back to.",
                "Only one version is installed, or none.",
                "`hearth engines list` shows what is there.",
            )
        return before

    def remove(self) -> None:
        """Remove all versions and what has come for another. Raises AppError."""
        with self._held("switch", _unheard, CancelToken()):
            for it in self.home.installed():
                if self._ways.in_use(it):
                    raise EngineInUse(
                        f"vLLM {it.version} is running.",
                        "Its files cannot be removed while a process works with them.",
                        "Close Hearth's window or choose another engine, then try again.",
                    )
            self.home.remove()

    def tidy(self) -> None:
        """Remove what a killed installation has half made, unless somebody is at work there."""
        if self.home.half_made:
            with suppress(Cancelled), self._held("look", _unheard, _already()):
                self.home.tidy()

    def _check(self, lock: Lock) -> Check:
        facts = self._ways.look(lock.pythons)
        if facts.glibc is None:
            return Check(preflight(facts, lock.profile, 0, lock.pythons), None)
        target = target_of(lock, facts)
        try:
            files = (*lock.chosen(target), *self._ways.tools(target))
        except LookupError as error:
            findings = (*preflight(facts, lock.profile, 0, lock.pythons), _no_file(facts, error))
            return Check(findings, None)
        price = self._price(lock, files)
        findings = preflight(facts, lock.profile, price.disk_bytes, lock.pythons)
        return Check(findings, price, facts.wsl.name if facts.wsl is not None else "")

    def _price(self, lock: Lock, files: tuple[LockedFile, ...]) -> Price:
        """Of what is not here yet; a file of unknown size counts for a little."""
        if self.home.found(lock) is not None:
            return Price(0, 0, 0, 0)
        folder = self.home.files(lock)
        coming = [it for it in files if not (folder / it.name).exists()]
        size = sum(it.size or _UNKNOWN_BYTES for it in coming)
        seconds = size / _DOWNLOAD_RATE + lock.disk_bytes / _UNPACK_RATE
        return Price(
            download_bytes=size,
            # The files lie beside the environment until it is whole.
            disk_bytes=size + lock.disk_bytes,
            kept_bytes=lock.disk_bytes,
            minutes=round(seconds / 60) + _TRY_MINUTES,
        )

    def _made(self, lock: Lock, holding: int, tell: Tell, cancel: CancelToken) -> Installed:
        """Raises EngineHindered for the first finding that forbids it, and as `install` does."""
        finding = self._check(lock).hindrance
        if finding is not None:
            raise EngineHindered(finding.what, finding.why, finding.do)
        target = target_of(lock, self._ways.look(lock.pythons))
        return Installing(self.home, lock, target, self._ways, tell, cancel).carry_out(holding)

    @contextmanager
    def _held(self, phase: Phase, tell: Tell, cancel: CancelToken) -> Iterator[int]:
        """The lock of the home, with the system's errors in words."""

        def waiting() -> None:
            tell(Step(phase, 0.0, "Another installation is at work; waiting for it."))

        with explained(self.home.root), alone(self.home.root, waiting, cancel) as holding:
            yield holding


def _unheard(_: Step) -> None:
    """For what nobody watches."""


def _already() -> CancelToken:
    """A token that keeps nobody waiting."""
    token = CancelToken()
    token.cancel()
    return token


def target_of(lock: Lock, facts: Facts) -> Target:
    python = next((it for it in lock.pythons if it in facts.pythons), lock.pythons[0])
    return Target(facts.machine, facts.glibc or (0, 0), python)


def _no_file(facts: Facts, error: LookupError) -> Finding:
    now = ".".join(map(str, facts.glibc or ()))
    return Finding(
        False,
        f"vLLM needs {error}, which does not come for this computer.",
        f"There is no build of it for {facts.machine}, this Python and glibc {now}.",
        "Use a newer Linux, or connect to a vLLM on another computer.",
        "files",
    )
