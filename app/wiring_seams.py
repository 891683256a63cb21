"""What the engines know of themselves, for the window: a part of the composition root."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from app.core.counterparts import shown
from app.core.errors import FileNotOnHub
from app.core.hub_names import hub_name
from app.core.wanted import wanted_checkpoint
from app.services.engine_list import Device, WorkerState
from app.services.pulling import wanted_of
from app.wiring_vllm import system
from engines.cancel import CancelToken
from engines.errors import EngineUnavailable
from engines.placement import chosen
from engines.types import EngineName

if TYPE_CHECKING:
    import psutil

    from app.core.counterparts import Counterpart
    from app.core.downloads import Wanted
    from app.core.engine_advice import Advice, System
    from app.core.hub import Repository
    from app.core.models import ModelEntry
    from app.services.device_care import DeviceState
    from app.wiring import Core

_LOG_LINES = 200


class EngineSeams:
    """`app.services.engine_list.Seams` on a Core."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.system: System = system()

    def devices(self, *, again: bool) -> tuple[Device, ...]:
        """Without the processor, which needs no trial; none where llama.cpp cannot be asked."""
        try:
            found = [it for it in self._core.devices.list() if it.backend != "CPU"]
        except EngineUnavailable:
            return ()
        if again:
            found = [self._tried(it) for it in found]
        usual = {gpu.device for gpu in chosen(self._core.look())}
        return tuple(_device(it, it.name in usual) for it in found)

    def advise(self) -> Advice:
        return self._core.choice.advise()

    def counterparts(self, entry: ModelEntry) -> tuple[Counterpart, ...]:
        """One for each other engine at most: what is here, what suits, or why nothing does."""
        engines: tuple[EngineName, ...] = ("llamacpp", "vllm", "remote")
        found = (self._core.choice.counterparts(entry, it) for it in engines if it != entry.engine)
        return tuple(it for it in map(shown, found) if it is not None)

    def fetch(self, other: Counterpart) -> None:
        """All that it is made of, with its drafter's. Raises AppError."""
        wanted = self._gguf if other.engine == "llamacpp" else self._checkpoints
        for it in wanted(other):
            self._core.downloads.add(it)
        self._core.downloads.start()

    def worker(self) -> WorkerState:
        """Read from the worker as it is; it is not started, and nothing is sent to it."""
        runtime = self._core.runtime
        worker, held = runtime.opened("vllm"), runtime.held("vllm")
        stage = getattr(worker, "stage", None)
        log = tuple(getattr(worker, "log_tail", ()))[-_LOG_LINES:]
        processes = _processes_of(worker)
        if stage is None or not processes:
            return WorkerState("stopped", log=log)
        if held is None:
            return WorkerState("starting", words=stage.words, share=stage.share, log=log)
        minutes = self._core.settings.read().vllm_idle
        return WorkerState(
            "ready",
            held.name,
            memory_bytes=_memory_of(processes),
            idle_s=runtime.idle_s("vllm"),
            stops_after_s=minutes * 60.0,
            log=log,
        )

    def stop_worker(self) -> None:
        self._core.runtime.stop_idle("vllm", 0.0)

    def free_memory(self) -> None:
        self._core.runtime.unload()

    def _gguf(self, other: Counterpart) -> list[Wanted]:
        repository = self._core.hub.repository(other.repo)
        name = hub_name(f"{other.repo}:{other.label}")
        return [wanted_of(repository, name, "main", self._core.fitting.quick)]

    def _checkpoints(self, other: Counterpart) -> list[Wanted]:
        repos = [it for it in (other.repo, other.drafter) if it]
        return [_checkpoint(self._core.hub.repository(it)) for it in repos]

    def _tried(self, device: DeviceState) -> DeviceState:
        if device.ok:
            return device
        return self._core.devices.try_again(device.name, CancelToken())


def _device(it: DeviceState, usual: bool) -> Device:
    return Device(
        it.name,
        f"{it.description} ({it.backend})",
        it.total_bytes,
        it.free_bytes,
        "works" if it.ok else "refused" if it.tried else "untried",
        it.why_not,
        usual,
    )


def _processes_of(worker: object) -> list[psutil.Process]:
    """Of the present worker; none where it has ended."""
    import psutil

    session = getattr(getattr(worker, "worker", None), "session", 0)
    try:
        first = psutil.Process(session) if session else None
        if first is None or first.status() == psutil.STATUS_ZOMBIE:
            return []
        return [first, *first.children(recursive=True)]
    except psutil.Error:
        return []


def _memory_of(processes: list[psutil.Process]) -> int:
    """Bytes that they hold in this computer's own memory, not on its cards."""
    import psutil

    held = 0
    for it in processes:
        with suppress(psutil.Error):
            held += int(it.memory_info().rss)
    return held


def _checkpoint(repository: Repository) -> Wanted:
    wanted = wanted_checkpoint(repository)
    if wanted is None:
        raise FileNotOnHub(
            f"{repository.id} has no checkpoint.",
            "There are no safetensors files with a config.json at its top.",
            "Look for another repository of this model on the Hub.",
        )
    return wanted
