"""The card of llama.cpp: the devices it can compute on, and which ones it uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID, Tone
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.picture import Picture
from app.kit.widgets.switch import Switch
from app.runtime.pages.engine_card import EngineCard

if TYPE_CHECKING:
    from app.runtime.values.installation import Device
    from engines.errors import UserError


class LlamaCard(EngineCard):
    """The card of llama.cpp.

    Signals:
        chosen(names): The user chose the devices to compute on; empty for the default ones.
        try_again(): The user wants the devices tested again.
    """

    chosen = Signal(object)
    try_again = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "llamaCard",
            "flame",
            "llama.cpp",
            self.tr(
                "Part of Hearth: runs everywhere, on the processor and on graphics cards of all "
                "makers, and takes little memory."
            ),
            parent,
        )
        self._devices: tuple[Device, ...] = ()
        self._chosen: tuple[str, ...] = ()
        self._switches: dict[str, Switch] = {}
        self._wait = Label(self.tr("Checking the devices…"), "muted", name="devicesWait")
        self._rows = QVBoxLayout()
        self._rows.setSpacing(GRID)
        self._note = Label("", "small", name="devicesNote", wrap=True)
        self._try_button = LabelledButton("again", self.tr("Try again"), "tryDevices")
        self._try_button.clicked.connect(self._try)
        row = QHBoxLayout()
        row.setSpacing(2 * GRID)
        row.addWidget(self._note, 1)
        row.addWidget(self._try_button, 0, Qt.AlignmentFlag.AlignTop)
        self._fault = Label("", "caution", name="llamaFault", wrap=True, selectable=True)
        self._fault.hide()
        self.body.addWidget(self._wait)
        self.body.addWidget(self._fault)
        self.body.addLayout(self._rows)
        self.body.addLayout(row)
        self._try_button.hide()

    def show_devices(self, devices: Sequence[Device], chosen: Sequence[str]) -> None:
        """Show the devices.

        Args:
            chosen: The names in the settings; empty for the default devices.
        """
        self._devices, self._chosen = tuple(devices), tuple(chosen)
        empty(self._rows)
        self._switches = {}
        for number, device in enumerate(self._devices, start=1):
            self._rows.addWidget(self._row(number, device))
        self._keep_one_on()
        self._wait.setVisible(False)
        self._fault.hide()
        self.show_status(self.tr("Ready"), good=True)
        refused = any(device.state == "refused" for device in self._devices)
        self._try_button.setVisible(refused)
        self._try_button.setEnabled(True)
        self._try_button.redraw("again", self.tr("Try again"))
        self._note.setText(self._note_text())
        self._note.show()

    def show_fault(self, error: UserError) -> None:
        """Show why llama.cpp cannot list its devices, and what to do."""
        self.show_devices((), self._chosen)
        self.show_status("")
        self._note.hide()
        self._fault.setText(f"{translated(error.why)}\n{translated(error.do)}")
        self._fault.show()

    def _note_text(self) -> str:
        if not self._devices:
            return self.tr(
                "This build can use no graphics card here: answers run on the processor."
            )
        note = self.tr(
            "What does not fit on the cards runs on the processor. To use only the "
            "processor, set the layers on the graphics card to 0."
        )
        if len(self._devices) > 1:
            several = self.tr("The first one is filled before the next.")
            note = f"{several} {note}"
        return note

    def _row(self, number: int, device: Device) -> QWidget:
        row = QWidget()
        row.setObjectName(f"device{number}")
        across = QHBoxLayout(row)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(12)
        drawing, tone, state = self._sign(device)
        across.addWidget(Picture(drawing, tone, 18), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(1)
        texts.addWidget(Label(device.title, "strong", wrap=True))
        texts.addWidget(
            Label(
                f"{state}. {self._memory(device)}", "small", name=f"deviceState{number}", wrap=True
            )
        )
        if device.why:
            texts.addWidget(Label(translated(device.why), "caution", wrap=True, selectable=True))
        across.addLayout(texts, 1)
        switch = Switch()
        switch.setObjectName(f"useDevice{number}")
        switch.setAccessibleName(self.tr("Use {name_of}").format(name_of=device.title))
        switch.setAccessibleDescription(state)
        works = device.state != "refused"
        is_chosen = device.name in self._chosen if self._chosen else device.usual
        switch.setChecked(works and is_chosen)
        switch.setEnabled(works)
        switch.toggled.connect(self._send_choice)
        self._switches[device.name] = switch
        across.addWidget(switch, 0, Qt.AlignmentFlag.AlignVCenter)
        return row

    def _sign(self, device: Device) -> tuple[str, Tone, str]:
        """Return the icon, its colour, and words with the same meaning."""
        if device.state == "works":
            return "check", "good", self.tr("Tested: gives the same answer as the processor")
        if device.state == "refused":
            return "warning", "danger", self.tr("Not used")
        return "info", "muted", self.tr("Tested before its first use")

    def _memory(self, device: Device) -> str:
        if not device.total_bytes:
            return ""
        return self.tr("{total_bytes} of memory, {free_bytes} of it free now.").format(
            total_bytes=size(device.total_bytes), free_bytes=size(device.free_bytes)
        )

    def _send_choice(self) -> None:
        working = [device for device in self._devices if device.state != "refused"]
        on = tuple(device.name for device in working if self._switches[device.name].isChecked())
        usual = tuple(device.name for device in working if device.usual)
        self._keep_one_on()
        self.chosen.emit(() if on == usual else on)

    def _keep_one_on(self) -> None:
        """Keep the last device on: a setting for the processor alone is the layers on the card."""
        works = [device.name for device in self._devices if device.state != "refused"]
        on = [name for name in works if self._switches[name].isChecked()]
        for name in works:
            self._switches[name].setEnabled(on != [name])

    def _try(self) -> None:
        self._try_button.setEnabled(False)
        self._try_button.redraw("again", self.tr("Testing…"))
        self.try_again.emit()
