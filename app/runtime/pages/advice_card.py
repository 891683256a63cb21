"""The card with the advice on engines: which one suits this computer and why, and a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.engine_names import engine_called
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.runtime.pages.comparison import ComparisonTable

if TYPE_CHECKING:
    from app.runtime.values.advice import Advice


class AdviceCard(Panel):
    """The card with the advice; shows no verdict until `show_advice` is called."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "adviceCard", margins=(2.5, 2, 2.5, 2), spacing=2, parent=parent)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(Picture("star", "accent_text", 26), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        self._what = Label(self.tr("Checking this computer…"), "title", name="suits", wrap=True)
        self._why = Label("", name="suitsWhy", wrap=True)
        self._why.hide()
        texts.addWidget(self._what)
        texts.addWidget(self._why)
        row.addLayout(texts, 1)
        self._table = ComparisonTable()
        self._line = Panel("line", "adviceLine")
        self._line.hide()
        self.box.addLayout(row)
        self.box.addWidget(self._line)
        self.box.addWidget(self._table)

    def show_advice(self, advice: Advice) -> None:
        name = engine_called(advice.engine)
        self._what.setText(self.tr("{name} suits this computer").format(name=name))
        self._why.setText(" ".join(translated(reason) for reason in advice.reasons))
        self._why.show()
        self._line.show()
        self._table.show_rows(advice.rows, advice.engine)
