"""The card that shows, as a picture and in words, whether a model fits the free memory."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import in_full, translated
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.models.discover.pages.fit_badge import FitBadge
from app.models.library.presenters.model_page import FitVerdict
from app.models.pages.memory_bar import MemoryBars
from engines.errors import UserError


class FitCard(Panel):
    """The card of a model's fit.

    Signals:
        anyway: The user wants to load the model even if it does not fit.
        again: The user wants a new estimate.
    """

    anyway = Signal()
    again = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "fitCard", margins=(2.5, 2, 2.5, 2), spacing=1.25, parent=parent)
        head = QHBoxLayout()
        head.addWidget(Label(self.tr("In memory"), "group"))
        head.addStretch(1)
        self._badge = QHBoxLayout()
        head.addLayout(self._badge)
        self.box.addLayout(head)
        self._content = QVBoxLayout()
        self._content.setSpacing(10)
        self.box.addLayout(self._content)

    def show_working(self) -> None:
        """Show that the memory is being estimated."""
        self._clear()
        self._content.addWidget(Label(self.tr("Estimating memory…"), "muted", name="judging"))

    def show_fitted(self, fitted: FitVerdict) -> None:
        """Show the verdict; a model that does not fit can be loaded anyway."""
        self._clear()
        self._badge.addWidget(FitBadge(fitted.fits))
        bars = MemoryBars(self)
        bars.show_uses(fitted.uses)
        self._content.addWidget(bars)
        text = " ".join(translated(sentence) for sentence in fitted.sentences)
        sentence = Label(text, "muted", name="fitSentence", wrap=True)
        # The sentence can contain a file name that is longer than a line.
        sentence.setMinimumWidth(1)
        self._content.addWidget(sentence)
        if fitted.fits == "no":
            self._content.addLayout(self._load_anyway())

    def show_problem(self, error: UserError) -> None:
        """Show why there is no estimate, with a button to try again."""
        self._clear()
        text = in_full(error)
        self._content.addWidget(Label(text, "problem", name="fitProblem", wrap=True))
        again = LabelledButton("again", self.tr("Try again"), "judgeAgain")
        again.clicked.connect(self.again)
        self._content.addWidget(again, 0, Qt.AlignmentFlag.AlignLeft)

    def _load_anyway(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        button = LabelledButton("warning", self.tr("Load anyway"), "loadAnyway")
        button.clicked.connect(self.anyway)
        text = self.tr("The computer may become very slow, or the system may close Hearth.")
        row.addWidget(button)
        row.addWidget(Label(text, "small", wrap=True), 1)
        return row

    def _clear(self) -> None:
        empty(self._badge)
        empty(self._content)
