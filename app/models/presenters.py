"""The presenters of the models' page, and the check of this computer that it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.kit.tasks.tasks import SYSTEM, Tasks

if TYPE_CHECKING:
    from app.models.discover.presenters.discover import Discover
    from app.models.discover.presenters.hub_token import HubToken
    from app.models.discover.presenters.suggestions import Suggestions
    from app.models.downloads.presenters import DownloadList
    from app.models.library.presenters.metadata import ModelMetadata
    from app.models.library.presenters.model_page import ModelPage
    from app.models.library.presenters.models import Models
    from app.models.library.presenters.overview import ModelOverview
    from app.models.library.presenters.same_answer import SameAnswer
    from app.settings.presenters import SettingsService
    from engines.hardware import Hardware
    from engines.registry import EngineAvailability


@dataclass(frozen=True)
class SystemCheck:
    """The hardware and the engines that were found."""

    hardware: Hardware
    engines: tuple[EngineAvailability, ...]

    @property
    def can_run_vllm(self) -> bool:
        """True if vLLM is installed, or if there is a card on which it could run."""
        from engines.vllm.provision.preflight import CAPABILITY

        is_installed = any(engine.name == "vllm" and engine.available for engine in self.engines)
        return is_installed or any(
            gpu.vendor == "nvidia" and (gpu.capability or CAPABILITY) >= CAPABILITY
            for gpu in self.hardware.gpus
        )


class SystemService(QObject):
    """Detects the hardware and the engines off the window's thread.

    Signals:
        checked(SystemCheck): The check is done.
        vllm_checked(can_run): The check has found whether vLLM can run here.
        failed(error): The check failed.
    """

    checked = Signal(object)
    vllm_checked = Signal(bool)
    failed = Signal(Exception)

    def __init__(
        self,
        detect: Callable[[], Hardware],
        engines: Callable[[], tuple[EngineAvailability, ...]],
        tasks: Tasks,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._detect = detect
        self._engines = engines
        self._tasks = tasks

    def check(self) -> None:
        """Start a check; it emits `checked` or `failed`."""

        def done(check: SystemCheck) -> None:
            self.checked.emit(check)
            self.vllm_checked.emit(check.can_run_vllm)

        self._tasks.run(
            lambda: SystemCheck(self._detect(), self._engines()), done, self.failed.emit, on=SYSTEM
        )


@dataclass(frozen=True)
class ModelsPresenters:
    """The presenters of the models' page."""

    models: Models
    overview: ModelOverview
    model_page: ModelPage
    metadata: ModelMetadata
    same_answer: SameAnswer
    discover: Discover
    suggestions: Suggestions
    hub_token: HubToken
    downloads: DownloadList
    settings: SettingsService
    system: SystemService
