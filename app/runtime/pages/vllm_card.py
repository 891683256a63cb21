"""The card of vLLM: what an installation takes, its progress, and the installed version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.runtime.pages.engine_card import EngineCard
from app.runtime.pages.install_line import InstallLine
from app.runtime.pages.price_card import PriceCard
from app.runtime.pages.worker_card import WorkerCard

if TYPE_CHECKING:
    from app.runtime.values.advice import System
    from app.runtime.values.installation import Check, InstallState, Step, WorkerState


class VllmCard(EngineCard):
    """The card of vLLM; `worker` is the part about the running worker.

    Signals:
        check(): The user wants to know what an installation takes.
        install(): The user wants to install or update it.
        cancel(): The user wants to cancel the installation.
        roll_back(): The user wants to go back to the previous version.
        remove(): The user wants to remove it.
        servers(): The user wants to use a vLLM on another computer.
    """

    check = Signal()
    install = Signal()
    cancel = Signal()
    roll_back = Signal()
    remove = Signal()
    servers = Signal()

    def __init__(self, folder: Path, system: System, parent: QWidget | None = None) -> None:
        super().__init__(
            "vllmCard",
            "cpu",
            "vLLM",
            self.tr(
                "A server that Hearth runs on this computer: for NVIDIA cards, long "
                "contexts and many chats at once."
            ),
            parent,
        )
        self._system = system
        self._state: InstallState | None = None
        self._installing = False
        self._words = Label(self.tr("Checking…"), name="vllmWords", wrap=True)
        self._buttons = self._first_buttons()
        self._price = PriceCard(folder)
        self._price.agreed.connect(self.install)
        self._price.check_again.connect(self._check)
        self._price.hide()
        self._line = InstallLine()
        self._line.cancel.connect(self.cancel)
        self._line.hide()
        self._installed = self._installed_part()
        self.worker = WorkerCard()
        for widget in (
            self._words, self._buttons, self._price, self._line, self._installed, self.worker,
        ):  # fmt: skip
            self.body.addWidget(widget)
        self._show()

    def show_state(self, state: InstallState) -> None:
        """Show which version is installed."""
        if state != self._state:
            self._state = state
            self._show()

    def show_check(self, check: Check) -> None:
        """Show what an installation would need."""
        self.show_checking(False)
        self._price.show_check(check, self._state)
        self._price.setVisible(not self._installing)
        self._buttons.hide()

    def show_checking(self, checking: bool) -> None:
        """Show that this computer is being checked, which can take some seconds."""
        words = self.tr("Checking…") if checking else self.tr("See what it needs")
        self._check_button.setEnabled(not checking)
        self._check_button.redraw("search", words)
        for other in (self._update, self._price):
            other.setEnabled(not checking)

    def show_installing(self, installing: bool) -> None:
        """Show that an installation has begun or ended."""
        if installing:
            self._line.begin()
        self._installing = installing
        self._show()

    def show_step(self, step: Step) -> None:
        """Show a step of the running installation."""
        self._line.show_step(step)

    def show_worker(self, worker: WorkerState) -> None:
        """Show the state of the worker process."""
        self.worker.show_worker(worker)

    def _show(self) -> None:
        state = self._state
        is_installed = state is not None and state.version is not None
        self._line.setVisible(self._installing)
        self._price.hide()
        self._installed.setVisible(is_installed and not self._installing)
        self.worker.setVisible(is_installed and not self._installing)
        self._words.setVisible(not is_installed and not self._installing)
        self._words.setText(self._state_text(state))
        can_check = not is_installed and state is not None and self._system != "macos"
        self._check_button.setVisible(can_check)
        self._buttons.setVisible(not is_installed and not self._installing)
        if state is not None and is_installed:
            self._show_installed(state)
        if self._installing:
            self.show_status(self.tr("Installing"))
        elif is_installed:
            self.show_status(self.tr("Installed"), good=True)
        else:
            self.show_status(self.tr("Not installed") if self._system != "macos" else "")

    def _check(self) -> None:
        self.show_checking(True)
        self.check.emit()

    def _state_text(self, state: InstallState | None) -> str:
        if self._system == "macos":
            return self.tr(
                "vLLM does not run on macOS: it needs Linux and an NVIDIA card. On this "
                "Mac, llama.cpp uses the graphics through Metal, which suits one user "
                "well. You can add a vLLM on another computer as a server."
            )
        if self._system == "windows":
            return self.tr(
                "On Windows, vLLM runs inside WSL2, the Linux in Windows. Hearth checks "
                "whether it is there, and says what to do if not. Without it, use "
                "llama.cpp, or add a vLLM on another computer as a server."
            )
        if state is None:
            return self.tr("Checking…")
        if state.unfinished_bytes:
            return self.tr(
                "An installation did not finish; {unfinished_bytes} are already downloaded. You "
                "can continue it."
            ).format(unfinished_bytes=size(state.unfinished_bytes))
        return self.tr(
            "Before anything is downloaded, you see what it needs, how large it is and "
            "how long it takes."
        )

    def _first_buttons(self) -> FlowRow:
        self._check_button = LabelledButton("search", self.tr("See what it needs"), "checkVllm")
        self._check_button.clicked.connect(self._check)
        server = LabelledButton(
            "server", self.tr("Use one on another computer"), "vllmServers", look="quiet"
        )
        server.clicked.connect(self.servers)
        return FlowRow(self._check_button, server)

    def _installed_part(self) -> QWidget:
        part = QWidget()
        part.setObjectName("vllmInstalled")
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        self._version = Label("", "strong", name="vllmVersion", wrap=True)
        self._before = Label("", "small", name="vllmPrevious", wrap=True)
        self._update = LabelledButton("download", self.tr("Update"), "updateVllm")
        self._update.clicked.connect(self._check)
        self._roll_back_button = LabelledButton("restore", self.tr("Roll back"), "rollBackVllm")
        self._roll_back_button.clicked.connect(self.roll_back)
        remove = LabelledButton("trash", self.tr("Remove"), "removeVllm")
        remove.clicked.connect(self.remove)
        self._changes = FlowRow(self._update, self._roll_back_button, remove)
        for widget in (self._version, self._before, self._changes):
            column.addWidget(widget)
        return part

    def _show_installed(self, state: InstallState) -> None:
        kind = self.tr("for processors") if state.profile == "cpu" else self.tr("for NVIDIA cards")
        self._version.setText(
            self.tr("Version {version}, {kind}").format(version=state.version, kind=kind)
        )
        before = self.tr("It takes {kept_bytes} on disk.").format(kept_bytes=size(state.kept_bytes))
        if state.previous:
            note = self.tr("Version {previous} stays installed, so that you can go back.").format(
                previous=state.previous
            )
            before = f"{note} {before}" if state.kept_bytes else note
        self._before.setText(before)
        self._before.setVisible(bool(state.previous or state.kept_bytes))
        self._update.setVisible(state.outdated)
        self._update.redraw(
            "download", self.tr("Update to {offered}").format(offered=state.offered)
        )
        self._roll_back_button.setVisible(bool(state.previous))
        self._roll_back_button.redraw(
            "restore", self.tr("Roll back to {previous}").format(previous=state.previous)
        )
