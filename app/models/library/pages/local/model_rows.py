"""The rows of the model list, added in portions and created a few at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.format import figure, size
from app.kit.look.theme import GRID, Tone
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.keyed_column import KeyedColumn
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.models.discover.pages.fit_badge import FitBadge
from app.models.library.pages.model_words import (
    mtp_sentence,
    source_sentence,
    source_word,
    used_words,
)
from app.models.library.pages.names import mtp_tip, name_of
from app.models.library.values.entry import ModelEntry
from app.models.library.values.memory_use import Fits
from app.models.library.values.overview import ListedFacts


class MoreCard(Panel):
    """The card below the list with a button for more models.

    Signals:
        more: The user wants to see more models.
    """

    more = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", "moreModels", across=True, margins=(2, 1.5, 2, 1.5), spacing=1.5, parent=parent
        )
        self._line = Label("", "muted", name="modelsShown", wrap=True)
        self.box.addWidget(self._line, 1)
        button = LabelledButton("down", self.tr("Show more"), "showMoreModels")
        button.clicked.connect(self.more)
        self.box.addWidget(button)
        self.hide()

    def show_count(self, shown: int, total: int) -> None:
        """Show how many models are listed; hide the card if all are."""
        self._line.setText(
            self.tr("{shown} of {total} models are shown.").format(
                shown=figure(shown), total=figure(total)
            )
        )
        self.setVisible(shown < total)


_SIZE_WIDTH = 64


class ModelRow(Panel):
    """The row of one model.

    Args:
        bytes_used: Bytes that the model takes on the disk.

    Signals:
        use: The id of the model to use.
        opened: The id of the model whose page to open; a click anywhere on the row does this.
    """

    use = Signal(str)
    opened = Signal(str)

    def __init__(
        self, entry: ModelEntry, bytes_used: int, in_use: bool, parent: QWidget | None = None
    ) -> None:
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
        self._fits: Fits | Literal[""] = ""
        self._badge: FitBadge | None = None
        self._facts_row = self._chips(entry)
        texts.addWidget(self._facts_row)
        self.box.addLayout(texts, 1)
        amount = Label(size(bytes_used), name="modelSize")
        amount.setMinimumWidth(_SIZE_WIDTH)
        amount.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.box.addWidget(amount)
        if in_use:
            mark = Label(self.tr("In use"), "chosen", name="inUse")
            self.box.addWidget(mark, 0, Qt.AlignmentFlag.AlignVCenter)
        else:
            use = QPushButton(self.tr("Use"))
            use.setObjectName(f"use-{entry.id}")
            use.setAccessibleName(self.tr("Use {name}").format(name=name_of(entry)))
            use.clicked.connect(lambda: self.use.emit(entry.id))
            self.box.addWidget(use)
        name = self.tr("Details of {name}").format(name=name_of(entry))
        self._more = IconButton("forward", name, f"details-{entry.id}")
        self._more.clicked.connect(lambda: self.opened.emit(entry.id))
        self.box.addWidget(self._more)

    @property
    def stops(self) -> list[QWidget]:
        """The widgets at which the Tab key stops, in order."""
        return [*self.findChildren(QPushButton), self._more]

    def show_facts(self, facts: ListedFacts) -> None:
        """Show the facts from the model's file once they have been read."""
        self._quantisation.setText(facts.quantisation)
        self._quantisation.setVisible(bool(facts.quantisation))
        self._mtp.setVisible(facts.mtp != "none")
        self._mtp.setToolTip(mtp_tip(mtp_sentence(facts.mtp)))
        self._problem.setVisible(bool(facts.problem))
        self._problem.setToolTip(translated(facts.problem))
        self._used.setVisible(not facts.problem)

    def show_fits(self, fits: Fits | Literal[""]) -> None:
        """Show whether the model fits into memory; "" shows nothing yet."""
        if fits == self._fits:
            return
        self._fits = fits
        old_badge, self._badge = self._badge, FitBadge(fits) if fits else None
        if old_badge is not None:
            self._facts_row.remove(old_badge)
            old_badge.deleteLater()
        if self._badge is not None:
            self._facts_row.add(self._badge)
            self._badge.show()

    def focus(self) -> None:
        """Move the keyboard focus to the button that opens the model's page."""
        self._more.setFocus()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the model's page after a click on the row."""
        inside = self.rect().contains(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and inside:
            self.opened.emit(self._id)

    def _chips(self, entry: ModelEntry) -> FlowRow:
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
        return FlowRow(source, self._quantisation, self._mtp, self._problem, self._used)


PORTION: Final = 50
"""How many rows are shown at first, and added with each “Show more”."""
_AT_ONCE: Final = 8
"""How many rows are created before the event loop continues: about one screenful."""


@dataclass(frozen=True)
class RowContent:
    """The content of a row, except for the facts in the model's file.

    Attributes:
        last_used: Repeats `entry.last_used`, which is ignored when entries are compared.
    """

    entry: ModelEntry
    last_used: float | None
    bytes_used: int
    in_use: bool


class ModelRows(QWidget):
    """The rows of the models.

    Args:
        after: The widget before the rows in the Tab order.

    Signals:
        use: The id of the model to use.
        opened: The id of the model whose page to open.
    """

    use = Signal(str)
    opened = Signal(str)

    def __init__(self, after: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._after = after
        self._all: Sequence[RowContent] = ()
        self._facts: Mapping[str, ListedFacts] = {}
        self._fits: Mapping[str, Fits | Literal[""]] = {}
        self._rows = KeyedColumn(lambda content: content.entry.id, self._make_row)
        self._row_limit = PORTION
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addLayout(self._rows.layout)
        self._more = MoreCard()
        self._more.more.connect(self._show_more)
        column.addWidget(self._more)
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._grow)

    def show_models(
        self, models: Sequence[RowContent], facts: Mapping[str, ListedFacts], *, anew: bool
    ) -> None:
        """Show models.

        Args:
            anew: Whether to start with the first portion again. Otherwise as many rows stay as
                there are, and rows with unchanged content keep their widgets, and so the focus and
                the scroll position.
        """
        self._all, self._facts = models, facts
        if anew:
            self._row_limit = PORTION
        self._show_rows(_AT_ONCE if anew else max(_AT_ONCE, len(self._rows.rows)))

    def show_facts(self, facts: ListedFacts) -> None:
        """Show the facts from a model's file if its row exists."""
        if facts.id in self._rows.rows:
            self._rows.rows[facts.id].show_facts(facts)

    def show_fits(self, fits: Mapping[str, Fits | Literal[""]]) -> None:
        """Show which models fit into memory, by their ids."""
        self._fits = fits
        for model, row in self._rows.rows.items():
            row.show_fits(fits.get(model, ""))

    def focus_row(self, model: str) -> None:
        """Move the keyboard focus to the row of a model, given by its id, if it exists."""
        if model in self._rows.rows:
            self._rows.rows[model].focus()

    def _show_more(self) -> None:
        first_new = self._all[len(self._rows.rows)].entry.id
        self._row_limit += PORTION
        self._grow()
        self.focus_row(first_new)

    def _grow(self) -> None:
        self._show_rows(len(self._rows.rows) + _AT_ONCE)

    def _show_rows(self, count: int) -> None:
        """Show the first `count` models now, and the others that are wanted in later turns."""
        before, focus = self._rows.rows, QApplication.focusWidget()
        with_focus = (it for it, row in before.items() if focus and row.isAncestorOf(focus))
        focused = next(with_focus, "")
        self._rows.show(self._all[: min(count, self._row_limit)])
        rows = self._rows.rows
        stops = [stop for row in rows.values() for stop in row.stops]
        for widget, following in pairwise([self._after, *stops]):
            QWidget.setTabOrder(widget, following)
        if rows.get(focused) is not before.get(focused):
            self.focus_row(focused)
        if len(rows) < min(self._row_limit, len(self._all)):
            self._timer.start()
        else:
            self._timer.stop()
            self._more.show_count(len(rows), len(self._all))

    def _make_row(self, content: RowContent) -> ModelRow:
        row = ModelRow(content.entry, content.bytes_used, content.in_use)
        if content.entry.id in self._facts:
            row.show_facts(self._facts[content.entry.id])
        row.show_fits(self._fits.get(content.entry.id, ""))
        row.use.connect(self.use)
        row.opened.connect(self.opened)
        return row
