"""The card that shows the result of the hardware check, in four lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.base.language import translated
from app.kit.engine_names import engine_name
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture

if TYPE_CHECKING:
    from app.models.presenters import SystemCheck


class ComputerCard(Panel):
    """The card of the hardware check; empty until `show_check` is called."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "computerCard", margins=(2, 2, 2, 2), spacing=1.5, parent=parent)
        self.box.addWidget(Label(self.tr("This computer"), "strong"))
        self._wait = Label(self.tr("Checking the hardware…"), "muted", name="checking", wrap=True)
        self.box.addWidget(self._wait)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(10)
        self._grid.setColumnStretch(2, 1)
        self._grid.setColumnMinimumWidth(1, 9 * GRID)
        self.box.addLayout(self._grid)
        self._notes = Label("", "small", name="hardwareNotes", wrap=True)
        self._notes.hide()
        self.box.addWidget(self._notes)

    def show_check(self, check: SystemCheck) -> None:
        """Show the processor, the memory, the graphics cards and the engine."""
        self._wait.hide()
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        rows = (
            ("cpu", self.tr("Processor"), self._processor(check)),
            ("memory", self.tr("Memory"), self._memory(check)),
            ("screen", self.tr("Graphics"), self._graphics(check)),
            ("box", self.tr("Engine"), self._engine(check)),
        )
        for row, (drawing, name, text) in enumerate(rows):
            top = Qt.AlignmentFlag.AlignTop
            self._grid.addWidget(Picture(drawing, "muted", 18), row, 0, top)
            self._grid.addWidget(Label(name, "muted"), row, 1, top)
            self._grid.addWidget(Label(text, wrap=True, selectable=True), row, 2)
        self._notes.setText("\n".join(translated(note) for note in check.hardware.notes))
        self._notes.setVisible(bool(check.hardware.notes))

    def show_failure(self) -> None:
        """Show that the hardware could not be checked."""
        self._wait.setText(
            self.tr(
                "The check of the hardware failed. Chatting still works. Open this page again to "
                "repeat the check."
            )
        )

    def _processor(self, check: SystemCheck) -> str:
        cpu = check.hardware.cpu
        if cpu.usable_threads == 1:
            threads = self.tr("one thread for answers")
        else:
            threads = self.tr("{usable_threads} threads for Hearth").format(
                usable_threads=cpu.usable_threads
            )
        return f"{cpu.name}, {threads}"

    def _memory(self, check: SystemCheck) -> str:
        memory = check.hardware.memory
        total = memory.limit_bytes or memory.total_bytes
        return self.tr("{total}, of which {available_bytes} are free now").format(
            total=size(total), available_bytes=size(memory.available_bytes)
        )

    def _graphics(self, check: SystemCheck) -> str:
        gpus = check.hardware.gpus
        if not gpus:
            return self.tr("No graphics card found: answers run on the processor")
        lines = []
        for gpu in gpus:
            memory = f", {size(gpu.total_bytes)}" if gpu.total_bytes else ""
            reason = "" if gpu.usable else f". {translated(gpu.why_not)}"
            lines.append(f"{gpu.name}{memory}{reason}")
        return "\n".join(lines)

    def _engine(self, check: SystemCheck) -> str:
        for engine in check.engines:
            if engine.available:
                return self.tr("{name} is ready").format(name=engine_name(engine.name))
        why = [translated(engine.why_not) for engine in check.engines if engine.why_not]
        return why[0] if why else self.tr("None available")
