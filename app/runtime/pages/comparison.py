"""The table that compares the engines by the criteria people care about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.base.language import translated
from app.kit.engine_names import engine_called
from app.kit.look.theme import GRID
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from engines.types import EngineName

if TYPE_CHECKING:
    from app.runtime.values.advice import Row

_ENGINES: tuple[EngineName, ...] = ("llamacpp", "vllm")


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

    def show_rows(self, rows: Sequence[Row], suits: EngineName) -> None:
        """Show the rows.

        Args:
            suits: The engine that suits this computer; its name is highlighted.
        """
        empty(self._grid)
        for column, engine in enumerate(_ENGINES, start=1):
            look = "accent" if engine == suits else "strong"
            self._grid.addWidget(Label(engine_called(engine), look), 0, column)
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
        said = [translated(row.llamacpp), translated(row.vllm)]
        for column, words in enumerate(said, start=1):
            look = "strong" if row.measured else ""
            self._grid.addWidget(Label(words, look, wrap=True), place, column, top)
        names = (engine_called(engine) for engine in _ENGINES)
        parts = (f"{name}, {words}" for name, words in zip(names, said, strict=True))
        return f"{topic}: {'; '.join(parts)}."
