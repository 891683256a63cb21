"""The page of models: those that are there, and how to get one that is worth its name."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.models import ModelEntry
from app.services.same_answer import SameAnswer
from app.services.system import SystemCheck
from app.ui.format import size
from app.ui.models.advice import largest_file, largest_model
from app.ui.models.model_row import ModelRow
from app.ui.models.mtp_card import MtpCard
from app.ui.theme import GRID
from app.ui.widgets.column_page import ColumnPage
from app.ui.widgets.computer_card import ComputerCard
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel


class ModelsPage(ColumnPage):
    """use(id), remove(id), add(): what the user wants. back(): to the chat."""

    use = Signal(str)
    remove = Signal(str)
    add = Signal()
    back = Signal()

    def __init__(self, check: SameAnswer, parent: QWidget | None = None) -> None:
        super().__init__("modelsPage", parent=parent)
        column = self.column
        column.addLayout(self._head())
        self._rows = QVBoxLayout()
        self._rows.setSpacing(GRID)
        column.addLayout(self._rows)
        self.mtp = MtpCard(check)
        column.addWidget(self.mtp)
        self._fit = Label("", name="modelAdvice", wrap=True)
        self._computer = ComputerCard()
        column.addWidget(self._help())
        column.addWidget(self._computer)
        column.addStretch(1)

    def show_models(self, entries: Sequence[ModelEntry], current: str) -> None:
        """current: the id or name of the model in use."""
        while (taken := self._rows.takeAt(0)) is not None:
            row = taken.widget()
            if row is not None:
                row.hide()
                row.deleteLater()
        for entry in entries:
            row = ModelRow(entry, current in (entry.id, entry.name))
            row.use.connect(self.use)
            row.remove.connect(self.remove)
            self._rows.addWidget(row)

    def show_check(self, check: SystemCheck) -> None:
        """Show this computer, and say which size of model suits it."""
        self._computer.show_check(check)
        free = check.hardware.memory.available_bytes
        text = self.tr("This computer has {0} of free memory: a file of up to {1} fits well.")
        words = [text.format(size(free), size(largest_file(free)))]
        best = largest_model(free)
        if best is not None:
            text = self.tr("That is a model of about {0} billion parameters in 4-bit quantisation.")
            words.append(text.format(f"{best.parameters:g}"))
        self._fit.setText(" ".join(words))

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        back = IconButton("back", self.tr("Back to the chat"), "backToChat")
        back.clicked.connect(self.back)
        row.addWidget(back)
        row.addWidget(Label(self.tr("Models"), "title"))
        row.addStretch(1)
        add = LabelledButton(
            "plus", self.tr("Add a model file…"), "addModel", look="primary", tone="on_accent"
        )
        add.clicked.connect(self.add)
        row.addWidget(add)
        return row

    def _help(self) -> QWidget:
        card = Panel("card", "modelHelp", margins=(2.5, 2.5, 2.5, 2.5), spacing=1.5)
        card.box.addWidget(Label(self.tr("How to get a real model"), "strong"))
        for text in (
            self.tr(
                "1.  Open models come as files that end in .gguf. Most are published on "
                "huggingface.co: search there for a model’s name and “GGUF”, such as Gemma 4 GGUF."
            ),
            self.tr(
                "2.  Choose a file by its size. “Q4_K_M” in its name is a good balance of quality "
                "and memory; Q8_0 is larger and a little better."
            ),
        ):
            card.box.addWidget(Label(text, wrap=True))
        self._fit.setText(self.tr("A file should be smaller than the free memory by a quarter."))
        self._fit.setIndent(22)
        card.box.addWidget(self._fit)
        card.box.addWidget(
            Label(
                self.tr(
                    "3.  Download it with your browser, then come back and press "
                    "“Add a model file…”. The file stays where it is."
                ),
                wrap=True,
            )
        )
        card.box.addWidget(
            Label(
                self.tr("Downloading inside Hearth comes with a later version."),
                "small",
                wrap=True,
            )
        )
        return card
