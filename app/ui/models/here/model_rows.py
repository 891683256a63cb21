"""The rows of models, as many as were asked for, made a few at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from app.core.models.entry import ModelEntry
from app.core.models.overview import ModelFacts
from app.ui.look.theme import GRID
from app.ui.models.here.model_row import ModelRow
from app.ui.models.here.more_card import MoreCard

PORTION: Final = 50
"""Rows that are shown at first, and added each time that more are asked for."""
_AT_ONCE: Final = 8
"""Rows made before the window has a turn again: about as many as are seen at first."""


@dataclass(frozen=True)
class Shown:
    """What a row shows besides facts. last_used counts here, unlike where entries are compared."""

    entry: ModelEntry
    last_used: float | None
    taken: int
    in_use: bool


class ModelRows(QWidget):
    """use(id), opened(id): of a model."""

    use = Signal(str)
    opened = Signal(str)

    def __init__(self, after: QWidget, parent: QWidget | None = None) -> None:
        """after: the focus comes to the rows from there."""
        super().__init__(parent)
        self._after = after
        self._all: Sequence[Shown] = ()
        self._facts: Mapping[str, ModelFacts] = {}
        self._rows: dict[str, tuple[Shown, ModelRow]] = {}
        self._wanted = PORTION
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        self._list = QVBoxLayout()
        self._list.setSpacing(GRID)
        column.addLayout(self._list)
        self._more = MoreCard()
        self._more.more.connect(self._show_more)
        column.addWidget(self._more)
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._grow)

    def show_models(
        self, models: Sequence[Shown], facts: Mapping[str, ModelFacts], *, anew: bool
    ) -> None:
        """anew: from the first on. Else as many stay as there are, and those that show the same
        stay the widgets that they are, with the focus and the place of the page.
        """
        self._all, self._facts = models, facts
        if anew:
            self._wanted = PORTION
        self._place(_AT_ONCE if anew else max(_AT_ONCE, len(self._rows)))

    def show_facts(self, facts: ModelFacts) -> None:
        if facts.id in self._rows:
            self._rows[facts.id][1].show_facts(facts)

    def focus_row(self, model: str) -> None:
        if model in self._rows:
            self._rows[model][1].focus()

    def _show_more(self) -> None:
        first_new = self._all[len(self._rows)].entry.id
        self._wanted += PORTION
        self._grow()
        self.focus_row(first_new)

    def _grow(self) -> None:
        self._place(len(self._rows) + _AT_ONCE)

    def _place(self, count: int) -> None:
        """Show the first `count` models, and the rest of those that are wanted in later turns."""
        before, self._rows = self._rows, {}
        for shown in self._all[: min(count, self._wanted)]:
            old = before.get(shown.entry.id)
            if old is not None and old[0] == shown:
                self._rows[shown.entry.id] = before.pop(shown.entry.id)
            else:
                self._rows[shown.entry.id] = shown, self._made(shown)
        focus = QApplication.focusWidget()
        held = ""
        for model, (_, row) in before.items():
            if focus is not None and row.isAncestorOf(focus):
                held = model
            self._list.removeWidget(row)
            row.hide()
            row.deleteLater()
        for place, (_, row) in enumerate(self._rows.values()):
            if self._list.indexOf(row) != place:
                self._list.insertWidget(place, row)
        stops = [stop for _, row in self._rows.values() for stop in row.stops]
        for one, following in pairwise([self._after, *stops]):
            QWidget.setTabOrder(one, following)
        self.focus_row(held)
        if len(self._rows) < min(self._wanted, len(self._all)):
            self._timer.start()
        else:
            self._timer.stop()
            self._more.show_count(len(self._rows), len(self._all))

    def _made(self, shown: Shown) -> ModelRow:
        row = ModelRow(shown.entry, shown.taken, shown.in_use)
        if shown.entry.id in self._facts:
            row.show_facts(self._facts[shown.entry.id])
        row.use.connect(self.use)
        row.opened.connect(self.opened)
        return row
