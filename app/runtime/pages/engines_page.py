"""The page of the engines: which one suits this computer, and a card to manage each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import PageHead
from app.models.library.presenters.models import Models
from app.runtime.pages.advice_card import AdviceCard
from app.runtime.pages.llama_card import LlamaCard
from app.runtime.pages.remote_card import RemoteCard
from app.runtime.pages.vllm_card import VllmCard
from app.runtime.presenters.engine_list import EngineList
from app.servers.presenters import ServerList
from app.settings.presenters import SettingsService
from engines.errors import UserError

if TYPE_CHECKING:
    from app.runtime.values.installation import Device, InstallState


class EnginesPage(PartPage):
    """The advice, a card for each engine, and the card of Hearth's own server."""

    def __init__(
        self,
        engines: EngineList,
        servers: ServerList,
        settings: SettingsService,
        models: Models,
        api: QWidget,
        vllm_folder: Path,
        notifier: Notifier,
        navigation: Navigation,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("enginesPage", parent)
        self._engines = engines
        self._servers = servers
        self._settings = settings
        self._models = models
        self._notifier = notifier
        self._navigation = navigation
        self._devices: tuple[Device, ...] = ()
        self._state: InstallState | None = None
        self.advice = AdviceCard()
        self.llama = LlamaCard()
        self.vllm = VllmCard(vllm_folder, engines.system)
        self.remote = RemoteCard()
        self.api = api
        self.column.addWidget(self._head())
        for card in (self.advice, self.llama, self.vllm, self.remote, self.api):
            self.column.addWidget(card)
        self.column.addStretch(1)
        self._connect()

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh the engines and the servers."""
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Refresh the engines and the servers."""
        self._engines.refresh()
        self._servers.refresh()
        self._show_servers()

    def show_part(self, part: str) -> None:
        """Scroll to a part: "vllm", which also checks what an installation takes, or "api"."""
        if part == "vllm":
            self.ensureWidgetVisible(self.vllm)
            self._check()
        elif part == "api":
            self.ensureWidgetVisible(self.api)

    def _head(self) -> PageHead:
        activity = LabelledButton("clock", self.tr("Activity"), "enginesActivity")
        activity.clicked.connect(lambda: self._navigation.go_to("activity"))
        settings = LabelledButton("gear", self.tr("Settings"), "enginesSettings")
        settings.clicked.connect(lambda: self._navigation.show_settings("engine"))
        return PageHead(
            self.tr("Engines"), "enginesBack", self._navigation.go_to_chat, activity, settings
        )

    def _connect(self) -> None:
        engines, vllm = self._engines, self.vllm
        engines.advised.connect(self.advice.show_advice)
        engines.devices_known.connect(self._show_devices)
        engines.devices_unknown.connect(self.llama.show_fault)
        engines.stood.connect(self._show_state)
        engines.stepped.connect(vllm.show_step)
        engines.worker_seen.connect(vllm.show_worker)
        engines.ended.connect(lambda: vllm.show_installing(False))
        engines.failed.connect(self._failed)
        self._servers.listed.connect(self._show_servers)
        self.llama.chosen.connect(self._choose_devices)
        self.llama.try_again.connect(lambda: engines.refresh_devices(again=True))
        vllm.check.connect(self._check)
        vllm.install.connect(self._install)
        vllm.cancel.connect(engines.cancel)
        vllm.roll_back.connect(self._ask_to_roll_back)
        vllm.remove.connect(self._ask_to_remove)
        vllm.worker.refresh_due.connect(engines.refresh_worker)
        vllm.worker.stop.connect(lambda: engines.stop_worker(failed=self._failed))
        for card in (vllm, self.remote):
            card.servers.connect(lambda: self._navigation.go_to("servers"))

    def _show_devices(self, devices: tuple[Device, ...]) -> None:
        self._devices = devices
        named = (name.strip() for name in self._settings.current.devices.split(","))
        self.llama.show_devices(devices, [name for name in named if name])

    def _show_state(self, state: InstallState) -> None:
        before, self._state = self._state, state
        if before is not None and before.version != state.version:
            self._models.look()  # models that only vLLM runs appear and disappear with it
        self.vllm.show_state(state)

    def _show_servers(self) -> None:
        self.remote.show_servers([profile.name for profile in self._servers.profiles()])

    def _choose_devices(self, names: tuple[str, ...]) -> None:
        try:
            self._settings.set("devices", ", ".join(names))
        except UserError as error:
            self._notifier.error(error)

    def _check(self) -> None:
        self._engines.check(self.vllm.show_check, self._failed)

    def _install(self) -> None:
        self.vllm.show_installing(True)
        self._engines.install()

    def _failed(self, error: Exception) -> None:
        """Show an error and restore what was shown before."""
        self._notifier.error(error)
        self.vllm.show_checking(False)
        if self._devices:
            self._show_devices(self._devices)

    def _ask_to_roll_back(self) -> None:
        if self._state is None or self._state.previous is None:
            return
        self._notifier.confirm(
            self.tr("Go back to vLLM {previous}?").format(previous=self._state.previous),
            self.tr(
                "Version {version} stays installed, so that you can switch back. Nothing is "
                "downloaded; vLLM is stopped if it is running."
            ).format(version=self._state.version),
            ("confirmRollBack", self.tr("Roll back")),
            ("keepVllm", self.tr("Keep it")),
            lambda: self._engines.roll_back(self._failed),
        )

    def _ask_to_remove(self) -> None:
        self._notifier.confirm(
            self.tr("Remove vLLM?"),
            self.tr(
                "This removes vLLM and its previous version, and stops it if it is "
                "running. Models and chats stay. To use it again, you have to download "
                "it again."
            ),
            ("confirmRemove", self.tr("Remove")),
            ("keepVllm", self.tr("Keep it")),
            lambda: self._engines.remove(self._failed),
        )
