"""The local vLLM of a data folder, created on first use so that a start costs nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.base.shipped import STARTER_PAIR
from app.models.discover.values.counterparts import Card
from app.models.library.values.entry import STARTER_CHECKPOINT, ModelEntry
from app.runtime.services.advising import Installable
from app.runtime.services.vllm_loader import Sharing, VllmLoader
from app.runtime.values.advice import System
from app.runtime.values.installation import StayingWorker
from app.settings.values.fields import Settings
from engines.errors import UserError
from engines.registry import availability
from engines.sentences import N_

if TYPE_CHECKING:
    from app.net.values.connections import LoggedConnection
    from app.runtime.services.vllm_loader import WorkerEngine
    from engines.hardware import Hardware
    from engines.vllm.host import Host
    from engines.vllm.offers import OfferedWorker
    from engines.vllm.provision.home import Installed
    from engines.vllm.provision.lock import Profile
    from engines.vllm.wsl.program import Wsl


@dataclass(frozen=True)
class LocalVllm:
    """vLLM on this computer, or in WSL2.

    Attributes:
        home: The folder of its environments.
        record, offline: As for the `Gate`.
        detect: Detects the computer's present state.
        wsl: Runs commands in WSL2; None if vLLM runs on this system.
        idle_min: Returns after how many minutes without an answer a worker ends; 0 for never.
        leaves: Whether a worker runs on for that time when this Hearth ends, for the next one.
    """

    home: Path
    record: Callable[[LoggedConnection], None]
    offline: Callable[[], bool]
    detect: Callable[[], Hardware]
    wsl: Wsl | None = None
    idle_min: Callable[[], int] = lambda: 0
    leaves: bool = False

    def installed(self) -> Installed | None:
        """Return the current environment; None if vLLM is not installed."""
        if not self.home.exists():
            return None
        from engines.vllm.provision.home import EngineHome

        return EngineHome(self.home).current()

    def profile(self) -> Profile | None:
        """Return the profile of the current environment; None if vLLM is not installed."""
        installed = self.installed()
        return installed.profile if installed is not None else None

    def installable(self) -> tuple[Installable, str]:
        """Return whether vLLM is installed, can be or cannot be installed, and why it cannot."""
        if self.installed() is not None:
            return "installed", ""
        status = next(engine for engine in availability(self.home) if engine.name == "vllm")
        impossible = sys.platform == "darwin"
        return ("impossible" if impossible else "possible"), status.why_not or ""

    def cards(self) -> tuple[Card, ...]:
        """List NVIDIA's cards, the largest memory first; none if the driver does not answer."""
        return _cards()

    def fits(self, entry: ModelEntry, settings: Settings) -> bool:
        """Return whether the card could hold a model on its own. Raises SettingsInvalid."""
        from app.models.library.services.load_options import load_options_of
        from app.runtime.services.prepared_vllm_load import fits_alone

        load_options = load_options_of(settings, "vllm")
        return fits_alone(entry, load_options, self.profile(), self.detect())

    def make(self) -> WorkerEngine:
        """Create the engine, without starting a worker."""
        from app.net.server_client import worker_client
        from engines.vllm.engine import VllmEngine
        from engines.vllm.provision.home import worker_folder

        folder = worker_folder(self.home)
        connect = partial(worker_client, self.record, self.offline)
        return VllmEngine(self.installed, folder, connect, self.detect, host=self._host)

    def _host(self, installed: Installed) -> Host:
        from engines.vllm.host import LocalHost

        if self.wsl is None:
            return LocalHost()
        from app.wiring.installer import wsl_folder
        from engines.vllm.wsl.distribution import Distribution
        from engines.vllm.wsl.host import WslHost

        return WslHost(Distribution(self.wsl, installed.linux, wsl_folder(self.home)))

    def loads(self, advised: Callable[[ModelEntry], int | None]) -> VllmLoader:
        """Return the loader of models in vLLM.

        Args:
            advised: Returns the recommended number of drafted tokens; None if there is none.
        """
        sharing = Sharing(
            lambda: self.wsl is None and self.idle_min() > 0,
            lambda: self.idle_min() * 60.0 if self.leaves else 0.0,
            self.end_unused,
        )
        return VllmLoader(self.make, self.profile, self.detect, advised, sharing)

    def staying(self) -> tuple[StayingWorker, ...]:
        """List the workers that outlive a command, or that several Hearths can share."""
        found = ((worker.offer, worker.state()) for worker in self._shared())
        return tuple(
            StayingWorker(offer.name, offer.process, *state)
            for offer, state in found
            if state is not None
        )

    def end_staying(self) -> tuple[str, ...]:
        """End these workers, even those in use; return the names of their models."""
        return tuple(worker.offer.name for worker in self._shared() if worker.end(force=True))

    def end_unused(self) -> None:
        """End the workers that nobody uses, because their memory is needed."""
        for worker in self._shared():
            worker.end(force=False)

    def _shared(self) -> Iterator[OfferedWorker]:
        if self.wsl is None and self.home.exists():
            from engines.vllm.offers import offered_workers
            from engines.vllm.provision.home import worker_folder

            yield from offered_workers(worker_folder(self.home))

    def starter(self) -> tuple[ModelEntry, ...]:
        """Return the guide as a checkpoint, if vLLM is installed."""
        if self.installed() is None:
            return ()
        target = STARTER_PAIR / "target"
        return (
            ModelEntry(
                STARTER_CHECKPOINT,
                N_("Starter guide for vLLM"),
                target,
                builtin=True,
                drafter=STARTER_PAIR / "drafter",
                source="builtin",
                parts=(target / "model.safetensors",),
                size_bytes=(target / "model.safetensors").stat().st_size,
                engine="vllm",
            ),
        )


def system() -> System:
    """Return the system that this process runs on."""
    if sys.platform == "darwin":
        return "macos"
    return "windows" if sys.platform == "win32" else "linux"


def linux_inside() -> Wsl | None:
    """Return the access to WSL2 if vLLM needs it.

    This function alone decides that vLLM runs in WSL2 on Windows and on the system itself
    elsewhere.
    """
    if system() != "windows":
        return None
    from engines.vllm.wsl.program import Wsl

    # The full path, because another program of that name is not Windows' own.
    return Wsl(f"{os.environ.get('SYSTEMROOT', 'C:/Windows')}/System32/wsl.exe")


@cache
def _cards() -> tuple[Card, ...]:
    from engines.hardware.nvidia import load_nvml
    from engines.vllm.provision.system_info import nvidia

    try:
        found = nvidia(load_nvml())[2]
    except UserError:
        return ()
    cards = (
        Card(card.name, float(".".join(map(str, card.capability))), card.total_bytes)
        for card in found
    )
    return tuple(sorted(cards, key=lambda card: -card.total_bytes))
