"""Manages the engines: devices, advice, counterparts of a model, and the worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from app.base.errors import FileNotOnHub
from app.models.discover.values.counterparts import best_or_nearest
from app.models.downloads.services.pulling import request_of
from app.models.downloads.values.requests import checkpoint_request
from app.models.hub.values.names import hub_name
from app.runtime.services.memory import memory_used
from app.runtime.values.installation import Device, StayingWorker, WorkerState
from engines.cancel import CancelToken
from engines.memory.placement import cards_for
from engines.sentences import N_
from engines.types import EngineName

if TYPE_CHECKING:
    from app.models.discover.values.counterparts import Counterpart
    from app.models.downloads.services.queue import DownloadQueue
    from app.models.downloads.values.downloads import DownloadRequest
    from app.models.hub.client import Hub
    from app.models.hub.values.hub import Repository
    from app.models.library.services.fitting import Fitting
    from app.models.library.values.entry import ModelEntry
    from app.runtime.services.advising import EngineAdvisor
    from app.runtime.services.choice import EngineChoice
    from app.runtime.services.device_trials import DeviceState, DeviceTrials
    from app.runtime.services.runtime import Runtime
    from app.runtime.values.advice import Advice
    from app.settings.store import SettingsFile
    from engines.hardware import Hardware

_LOG_LINES = 200


class StayingWorkers(Protocol):
    """vLLM workers that commands have left running, or that other Hearths use."""

    def staying(self) -> tuple[StayingWorker, ...]:
        """Return the workers that stay running without this Hearth."""

    def end_staying(self) -> tuple[str, ...]:
        """End the workers that stay running, and return their models' names."""

    def end_unused(self) -> None:
        """End the workers that stay running and that nobody uses."""


class EngineManager:
    """Manages this computer's engines. Safe from any thread; methods can take some time."""

    def __init__(
        self,
        advisor: EngineAdvisor,
        hardware: Callable[[], Hardware],
        devices: DeviceTrials,
        choice: EngineChoice,
        runtime: Runtime,
        settings: SettingsFile,
        hub: Hub,
        downloads: DownloadQueue,
        fitting: Fitting,
        workers: StayingWorkers,
    ) -> None:
        self.system = advisor.system
        self._advisor = advisor
        self._hardware = hardware
        self._devices = devices
        self._choice = choice
        self._runtime = runtime
        self._settings = settings
        self._hub = hub
        self._downloads = downloads
        self._fitting = fitting
        self._workers = workers

    def devices(self, *, again: bool) -> tuple[Device, ...]:
        """List llama.cpp's devices except the processor, which needs no trial.

        Args:
            again: Try the refused devices again.

        Raises:
            EngineUnavailable: llama.cpp cannot list them.
        """
        found = [device for device in self._devices.list() if device.backend != "CPU"]
        if again:
            found = [self._tried(device) for device in found]
        usual = {gpu.device for gpu in cards_for(self._hardware())}
        return tuple(_device(device, device.name in usual) for device in found)

    def advise(self) -> Advice:
        """Return which engine suits this computer."""
        return self._advisor.advise()

    def counterparts(self, entry: ModelEntry) -> tuple[Counterpart, ...]:
        """Find the model for each other engine: local files, a download, or why there is none."""
        engines: tuple[EngineName, ...] = ("llamacpp", "vllm", "remote")
        found = (
            self._choice.counterparts(entry, engine) for engine in engines if engine != entry.engine
        )
        return tuple(
            counterpart for counterpart in map(best_or_nearest, found) if counterpart is not None
        )

    def fetch(self, other: Counterpart) -> None:
        """Download a counterpart and its drafter. Raises AppError."""
        downloads_of = self._gguf if other.engine == "llamacpp" else self._checkpoints
        for download in downloads_of(other):
            self._downloads.add(download)
        self._downloads.start()

    def worker(self) -> WorkerState:
        """Return the state of vLLM's worker, without starting it or sending it anything."""
        status, model = self._runtime.status("vllm"), self._runtime.loaded_model("vllm")
        log = status.log[-_LOG_LINES:]
        if status.state == "stopped":
            staying = self._workers.staying()
            return _of_others(staying[0]) if staying else WorkerState("stopped", log=log)
        if status.state == "loading" or model is None:
            words = status.words
            if status.detail:
                words = N_("{step}: {detail}", step=words, detail=status.detail)
            return WorkerState("loading", words=words, share=status.share, log=log)
        minutes = self._settings.read().vllm_idle
        memory, is_exact = memory_used(status.process)
        return WorkerState(
            "ready",
            model.name,
            memory_bytes=memory,
            memory_once=is_exact,
            idle_s=self._runtime.idle_s("vllm"),
            stops_after_s=minutes * 60.0,
            log=log,
        )

    def stop_worker(self) -> None:
        """Unload vLLM's model after the answers already in the queue, and end left-over workers."""
        self._runtime.stop("vllm")
        self._workers.end_staying()

    def free_memory(self) -> None:
        """Unload all models after the answers already in the queue, and end unused workers."""
        self._runtime.unload()
        self._workers.end_unused()

    def _gguf(self, other: Counterpart) -> list[DownloadRequest]:
        repository = self._hub.repository(other.repo)
        name = hub_name(f"{other.repo}:{other.label}")
        return [request_of(repository, name, "main", self._fitting.quick)]

    def _checkpoints(self, other: Counterpart) -> list[DownloadRequest]:
        repos = [repo for repo in (other.repo, other.drafter) if repo]
        return [_checkpoint(self._hub.repository(repo)) for repo in repos]

    def _tried(self, device: DeviceState) -> DeviceState:
        if device.ok:
            return device
        return self._devices.try_again(device.name, CancelToken())


def _of_others(worker: StayingWorker) -> WorkerState:
    memory, is_exact = memory_used(worker.process)
    return WorkerState(
        "ready",
        worker.model,
        memory_bytes=memory,
        memory_once=is_exact,
        stops_after_s=worker.left_s or 0.0,
        others=worker.users,
    )


def _device(device: DeviceState, usual: bool) -> Device:
    return Device(
        device.name,
        f"{device.description} ({device.backend})",
        device.total_bytes,
        device.free_bytes,
        "works" if device.ok else "refused" if device.tried else "untried",
        device.why_not,
        usual,
    )


def _checkpoint(repository: Repository) -> DownloadRequest:
    download = checkpoint_request(repository)
    if download is None:
        raise FileNotOnHub(
            N_("{id} has no checkpoint.", id=repository.id),
            N_("It has no safetensors files with a config.json at the top level."),
            N_("Look for another repository of this model on the Hub."),
        )
    return download
