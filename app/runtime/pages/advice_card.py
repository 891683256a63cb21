"""The card with the advice on engines: which one suits this computer and why, and a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.engine_names import engine_name
from app.kit.look.theme import GRID
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from engines.types import EngineName

if TYPE_CHECKING:
    from app.runtime.values.advice import Advice, Row

_ENGINES: tuple[EngineName, ...] = ("llamacpp", "vllm")


class AdviceCard(Panel):
    """The card with the advice; shows no verdict until `show_advice` is called."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "adviceCard", margins=(2.5, 2, 2.5, 2), spacing=2, parent=parent)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(Picture("star", "accent_text", 26), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        self._headline = Label(self.tr("Checking this computer…"), "title", name="suits", wrap=True)
        self._why = Label("", name="suitsWhy", wrap=True)
        self._why.hide()
        texts.addWidget(self._headline)
        texts.addWidget(self._why)
        row.addLayout(texts, 1)
        self._table = ComparisonTable()
        self._line = Panel("line", "adviceLine")
        self._line.hide()
        self.box.addLayout(row)
        self.box.addWidget(self._line)
        self.box.addWidget(self._table)

    def show_advice(self, advice: Advice) -> None:
        """Show which engine suits this computer, the reasons and the comparison."""
        name = engine_name(advice.engine)
        self._headline.setText(self.tr("{name} suits this computer").format(name=name))
        self._why.setText(" ".join(translated(reason) for reason in advice.reasons))
        self._why.show()
        self._line.show()
        self._table.show_rows(advice.rows, advice.engine)


class ComparisonTable(QWidget):
    """A table of words with the engines' names in its first row."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("engineComparison")
        self.setAccessibleName(self.tr("The engines compared"))
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(3 * GRID)
        self._grid.setVerticalSpacing(10)
        self._grid.setColumnMinimumWidth(0, 112)
        for column in range(len(_ENGINES)):
            self._grid.setColumnStretch(column + 1, 1)

    def show_rows(self, rows: Sequence[Row], suitable: EngineName) -> None:
        """Show the rows.

        Args:
            suitable: The engine that suits this computer; its name is highlighted.
        """
        empty(self._grid)
        for column, engine in enumerate(_ENGINES, start=1):
            look = "accent" if engine == suitable else "strong"
            self._grid.addWidget(Label(engine_name(engine), look), 0, column)
        spoken = []
        for place, row in enumerate(rows, start=1):
            spoken.append(self._add(place, row))
        self.setAccessibleDescription(" ".join(spoken))

    def _add(self, place: int, row: Row) -> str:
        """Add a row and return its text for screen readers."""
        topic = translated(row.topic)
        if row.measured:
            topic = self.tr("{topic} (measured here)").format(topic=topic)
        top = Qt.AlignmentFlag.AlignTop
        self._grid.addWidget(Label(topic, "muted", wrap=True), place, 0, top)
        texts = [translated(row.llamacpp), translated(row.vllm)]
        for column, words in enumerate(texts, start=1):
            look = "strong" if row.measured else ""
            self._grid.addWidget(Label(words, look, wrap=True), place, column, top)
        names = (engine_name(engine) for engine in _ENGINES)
        parts = (f"{name}, {words}" for name, words in zip(names, texts, strict=True))
        return f"{topic}: {'; '.join(parts)}."
