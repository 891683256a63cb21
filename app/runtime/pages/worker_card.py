"""The card of the running worker: its state, its memory, and its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QWidget

from app.base.language import translated
from app.kit.look.format import size
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.kit.widgets.progress_bar import ProgressBar

if TYPE_CHECKING:
    from app.runtime.values.installation import WorkerState

_LOOK_MS = 1000
_LOG_HEIGHT = 200


class WorkerCard(Panel):
    """The card of the vLLM worker.

    Signals:
        refresh_due(): The worker's state needs a refresh; emitted regularly while the card is
            visible.
        stop(): The user wants to stop the worker.
    """

    refresh_due = Signal()
    stop = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("fold", "workerCard", margins=(2, 1.5, 2, 1.5), parent=parent)
        self._state: WorkerState | None = None
        row = QHBoxLayout()
        row.setSpacing(GRID)
        self._running = Picture("play", "good", 18)
        self._resting = Picture("pause", "muted", 18)
        self._headline_label = Label("", "strong", name="workerState", wrap=True)
        self._stop = LabelledButton("stop", self.tr("Stop vLLM"), "stopWorker")
        self._stop.clicked.connect(self.stop)
        self._open = LabelledButton("log", self.tr("Log"), "openLog")
        self._open.setCheckable(True)
        self._open.toggled.connect(self._turn_log)
        for picture in (self._running, self._resting):
            row.addWidget(picture)
        row.addWidget(self._headline_label, 1)
        row.addWidget(self._open)
        row.addWidget(self._stop)
        self._facts = Label("", "small", name="workerFacts", wrap=True)
        self._bar = ProgressBar("workerProgress", self.tr("Progress of vLLM’s start"))
        self._log = QPlainTextEdit()
        self._log.setObjectName("workerLog")
        self._log.setAccessibleName(self.tr("vLLM’s log, its last lines"))
        self._log.setReadOnly(True)
        self._log.setTabChangesFocus(True)
        self._log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._log.setFixedHeight(_LOG_HEIGHT)
        self._log.setProperty("look", "code")
        self._log.hide()
        self.box.addLayout(row)
        for widget in (self._bar, self._facts, self._log):
            self.box.addWidget(widget)
        self._tick = QTimer(self)
        self._tick.setInterval(_LOOK_MS)
        self._tick.setTimerType(Qt.TimerType.CoarseTimer)
        self._tick.timeout.connect(self.refresh_due)

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh the worker's state every few seconds while the card is visible."""
        super().showEvent(event)
        self._tick.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop refreshing the worker's state."""
        super().hideEvent(event)
        self._tick.stop()

    def show_worker(self, worker: WorkerState) -> None:
        """Show the state of the worker, its memory and its log."""
        if worker == self._state:
            return
        self._state = worker
        runs = worker.state != "stopped"
        self._running.setVisible(runs)
        self._resting.setVisible(not runs)
        self._headline_label.setText(self._headline(worker))
        facts = self._facts_text(worker)
        self._facts.setText(facts)
        self._facts.setVisible(bool(facts))
        self._bar.setVisible(worker.state == "loading")
        self._bar.setValue(round(worker.share * 100))
        self._stop.setVisible(runs)
        self._open.setVisible(bool(worker.log))
        self._log.setVisible(self._open.isChecked() and bool(worker.log))
        self._show_log(worker.log)

    def _headline(self, worker: WorkerState) -> str:
        if worker.state == "loading":
            words = translated(worker.words) or self.tr("Starting")
            return (
                self.tr("{model}: {words}").format(model=worker.model, words=words)
                if worker.model
                else words
            )
        if worker.state == "ready":
            return self.tr("Running: {model}").format(model=worker.model)
        return self.tr("No model is running on vLLM")

    def _facts_text(self, worker: WorkerState) -> str:
        if worker.state == "stopped":
            return self.tr("It starts with the first message to one of its models.")
        parts = []
        if worker.memory_bytes:
            sentence = (
                self.tr(
                    "Uses {memory_bytes} of memory; memory that its processes share is counted "
                    "once."
                )
                if worker.memory_once
                else self.tr(
                    "Uses up to {memory_bytes} of memory; memory that its processes share is "
                    "counted for each of them."
                )
            )
            parts.append(sentence.format(memory_bytes=size(worker.memory_bytes)))
        if worker.others is not None:
            parts.append(
                self.tr("Another program uses it, such as a command in a terminal.")
                if worker.others
                else self.tr(
                    "A command in a terminal left it running; a message to this model uses it."
                )
            )
        if worker.state == "ready" and worker.stops_after_s:
            left = max(0, round((worker.stops_after_s - worker.idle_s) / 60))
            parts.append(
                self.tr("Without a message it stops in about {left} minutes.").format(left=left)
                if left
                else self.tr("Without a message it stops within a minute.")
            )
        elif worker.state == "ready" and worker.others is None:
            parts.append(self.tr("It runs until you stop it or close Hearth."))
        return " ".join(parts)

    def _turn_log(self, shown: bool) -> None:
        self._log.setVisible(shown)
        if shown:
            bar = self._log.verticalScrollBar()
            bar.setValue(bar.maximum())

    def _show_log(self, lines: tuple[str, ...]) -> None:
        """Show the end of the log, unless the user has scrolled up."""
        text = "\n".join(lines)
        if text == self._log.toPlainText():
            return
        bar = self._log.verticalScrollBar()
        before, at_end = bar.value(), bar.value() >= bar.maximum()
        self._log.setPlainText(text)
        bar.setValue(bar.maximum() if at_end else before)
