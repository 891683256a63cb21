"""The card about multi-token prediction: its use for this model, and a check of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.base.language import in_full, translated
from app.kit.look.motion import show_busy
from app.kit.notify import Notifier
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.progress_bar import ProgressBar
from app.models.library.presenters.same_answer import SameAnswer
from app.models.library.values.same_answer import PromptComparison, in_words, is_good
from engines.errors import Cancelled, UserError

if TYPE_CHECKING:
    from app.activity.values.bench_results import BenchStep


class MtpCard(Panel):
    """The card about MTP; its check runs on the engine that writes answers, and can be stopped."""

    def __init__(
        self, check: SameAnswer, notifier: Notifier, parent: QWidget | None = None
    ) -> None:
        super().__init__("card", "mtpCard", margins=(2.5, 2.5, 2.5, 2.5), spacing=1, parent=parent)
        self._check = check
        self._notifier = notifier
        self._model = ""
        self.box.addWidget(Label(self.tr("Multi-token prediction (MTP)"), "strong"))
        self.box.addWidget(
            Label(
                self.tr(
                    "Guesses the next words and checks them together. Answers come "
                    "faster and stay the same; you can check that here."
                ),
                wrap=True,
            )
        )
        self._sentence = Label("", "muted", name="mtpOfModel", wrap=True)
        self.box.addWidget(self._sentence)
        row = QHBoxLayout()
        row.setSpacing(12)
        self._button = LabelledButton("check", self.tr("Compare answers"), "checkMtp")
        self._button.clicked.connect(self._press)
        self._bar = ProgressBar("checkProgress", self.tr("Comparing answers"))
        self._bar.setFixedWidth(160)
        self._step_label = Label("", "small", name="checkStep")
        row.addWidget(self._button)
        row.addWidget(self._bar)
        row.addWidget(self._step_label)
        row.addStretch(1)
        row.setContentsMargins(0, 4, 0, 0)
        self.box.addLayout(row)
        self._result = Label("", name="checkResult", wrap=True, selectable=True)
        self.box.addWidget(self._result)
        self._show_running(False)
        self._say("")

    def show_model(self, model: str, sentence: str) -> None:
        """Show a sentence about the files of the model in use; discard another model's check."""
        self._sentence.setText(translated(sentence))
        before, self._model = self._model, model
        # The first sentence can come during a check, which is then of the same model.
        if before not in ("", model):
            self._check.stop()
            self._say("")

    def _press(self) -> None:
        if self._check.is_running:
            self._check.stop()
            return
        self._say("")
        show_busy(self._bar)
        self._step_label.setText(self.tr("Loading the model…"))
        self._show_running(True)
        self._check.start(self._step, self._ended, self._failed)

    def _step(self, step: BenchStep) -> None:
        self._bar.setRange(0, step.total)
        self._bar.setValue(step.done)
        self._step_label.setText(
            self.tr("{done} of {total}").format(done=step.done + 1, total=step.total)
        )

    def _ended(self, results: Sequence[PromptComparison]) -> None:
        self._over(
            "\n".join(translated(line) for line in in_words(results)), problem=not is_good(results)
        )

    def _failed(self, error: Exception) -> None:
        if isinstance(error, Cancelled):
            self._over(self.tr("The check was stopped."))
        elif isinstance(error, UserError):
            self._over(in_full(error), problem=True)
        else:
            self._over(self.tr("The comparison could not finish."))
            self._notifier.error(error)

    def _over(self, text: str, *, problem: bool = False) -> None:
        self._show_running(False)
        self._say(text, problem=problem)

    def _say(self, text: str, *, problem: bool = False) -> None:
        self._result.show_text(text, "problem" if problem else "")

    def _show_running(self, running: bool) -> None:
        text = self.tr("Stop") if running else self.tr("Compare answers")
        self._button.redraw("stop" if running else "check", text)
        self._bar.setVisible(running)
        self._step_label.setVisible(running)
