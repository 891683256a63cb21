"""One model in the list: what it is, what it takes, and the ways to use it and to its page."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.core.models.entry import ModelEntry
from app.core.models.overview import ModelFacts
from app.ui.look.format import size
from app.ui.look.language import translated
from app.ui.look.theme import Tone
from app.ui.models.here_words import mtp_sentence, source_sentence, source_word, used_words
from app.ui.models.names import name_of
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture

_SIZE_WIDTH = 64


class ModelRow(Panel):
    """use(id): it is to answer. opened(id): its page is wanted; a click anywhere asks for it."""

    use = Signal(str)
    opened = Signal(str)

    def __init__(
        self, entry: ModelEntry, taken: int, in_use: bool, parent: QWidget | None = None
    ) -> None:
        """taken: bytes on the disk."""
        super().__init__(
            "card", f"model-{entry.id}", across=True, margins=(2, 1.25, 1.25, 1.25), parent=parent
        )
        self._id = entry.id
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.box.setSpacing(12)
        tone: Tone = "accent_text" if in_use else "muted"
        self.box.addWidget(Picture("flame" if entry.builtin else "box", tone))
        texts = QVBoxLayout()
        texts.setSpacing(5)
        texts.addWidget(ElidedLabel(name_of(entry), "strong", "modelName"))
        texts.addLayout(self._chips(entry))
        self.box.addLayout(texts, 1)
        amount = Label(size(taken), name="modelSize")
        amount.setMinimumWidth(_SIZE_WIDTH)
        amount.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.box.addWidget(amount)
        if in_use:
            mark = Label(self.tr("In use"), "chosen", name="inUse")
            self.box.addWidget(mark, 0, Qt.AlignmentFlag.AlignVCenter)
        else:
            use = QPushButton(self.tr("Use"))
            use.setObjectName(f"use-{entry.id}")
            use.setAccessibleName(self.tr("Use {0}").format(name_of(entry)))
            use.clicked.connect(lambda: self.use.emit(entry.id))
            self.box.addWidget(use)
        name = self.tr("Details of {0}").format(name_of(entry))
        self._more = IconButton("forward", name, f"details-{entry.id}")
        self._more.clicked.connect(lambda: self.opened.emit(entry.id))
        self.box.addWidget(self._more)

    @property
    def stops(self) -> list[QWidget]:
        """Where the Tab key stops, in this order."""
        return [*self.findChildren(QPushButton), self._more]

    def show_facts(self, facts: ModelFacts) -> None:
        """What its file says, as soon as it was read."""
        self._quantisation.setText(facts.quantisation)
        self._quantisation.setVisible(bool(facts.quantisation))
        self._mtp.setVisible(facts.mtp != "none")
        self._mtp.setToolTip(mtp_sentence(facts.mtp))
        self._problem.setVisible(bool(facts.problem))
        self._problem.setToolTip(translated(facts.problem))
        self._used.setVisible(not facts.problem)

    def focus(self) -> None:
        self._more.setFocus()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and inside:
            self.opened.emit(self._id)

    def _chips(self, entry: ModelEntry) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        source = Label(source_word(entry.source), "badge", name="modelSource")
        source.setToolTip(source_sentence(entry.source))
        self._quantisation = Label("", "badge", name="modelQuantisation")
        self._quantisation.setToolTip(self.tr("Quantisation"))
        self._quantisation.hide()
        self._mtp = Label("MTP", "badge", name="modelMtp")
        self._mtp.hide()
        self._problem = Label(self.tr("Cannot be read"), "problem", name="modelProblem")
        self._problem.hide()
        self._used = ElidedLabel(used_words(entry.last_used), "small", "modelUsed")
        for chip in (source, self._quantisation, self._mtp, self._problem):
            row.addWidget(chip)
        row.addWidget(self._used, 1)
        return row
