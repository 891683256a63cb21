"""The results of a search, or a text in their place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.kit.look.theme import GRID
from app.kit.widgets.action import UserAction
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.kit.widgets.problem_card import ProblemCard
from app.kit.widgets.row_button import RowButton
from app.models.discover.pages.words import ago, downloads, gate_word, parameters, split_name
from app.models.hub.values.hub import Query, SearchResult
from engines.errors import UserError


class ResultRow(RowButton):
    """The row of one result; a click opens the repository."""

    def __init__(self, result: SearchResult, parent: QWidget | None = None) -> None:
        name, owner = split_name(result.id)
        facts = _facts(result)
        super().__init__(f"result-{result.id}", f"{name}, {', '.join((owner, *facts))}", parent)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(ElidedLabel(name, "strong"))
        texts.addWidget(ElidedLabel(" · ".join((owner, *facts)), "small"))
        self.box.addLayout(texts, 1)
        if result.gate != "open":
            self.box.addWidget(Picture("lock", "muted", 16))
            badge = Label(gate_word(result.gate), "badge", name="gateBadge")
            self.box.addWidget(badge, 0, Qt.AlignmentFlag.AlignVCenter)
        self.box.addWidget(Picture("forward", "muted", 16))
        self.let_clicks_through()


def _facts(result: SearchResult) -> list[str]:
    facts = []
    if result.parameters:
        facts.append(parameters(result.parameters))
    facts.append(downloads(result.downloads))
    facts.append(result.licence or _tr("no licence given"))
    if result.updated is not None:
        facts.append(ago(result.updated))
    return facts


def _tr(text: str) -> str:
    return QCoreApplication.translate("discover", text)


class Results(QWidget):
    """The results of a search.

    Signals:
        opened: The repository to open.
        again: The user wants to repeat the search.
        widen: The user wants to search without filters.
    """

    opened = Signal(str)
    again = Signal()
    widen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results")
        self.setAccessibleName(self.tr("Results"))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID)

    def show_searching(self) -> None:
        """Show that a search is under way."""
        self._show(Label(self.tr("Searching…"), "muted", name="searching"))

    def show_results(self, results: Sequence[SearchResult]) -> None:
        """Show a row for each result, or that nothing was found."""
        if not results:
            self._show(self._nothing())
            return
        if len(results) == 1:
            text = self.tr("One model")
        elif len(results) < Query.limit:
            text = self.tr("{count} models")
        else:
            text = self.tr("The first {count} models; add words to narrow the search")
        rows: list[QWidget] = [Label(text.format(count=len(results)), "group", name="resultCount")]
        for result in results:
            row = ResultRow(result)
            row.clicked.connect(lambda _=False, repo=result.id: self.opened.emit(repo))
            rows.append(row)
        self._show(*rows)

    def show_problem(self, error: UserError) -> None:
        """Show why the search failed, with a button to repeat it."""
        card = ProblemCard(error, (("searchAgain", "again", self.tr("Try again")),))
        card.acted.connect(lambda _: self.again.emit())
        self._show(card)

    def focus(self, repo: str) -> bool:
        """Move the keyboard focus to a result; return whether it is listed."""
        row = self.findChild(ResultRow, f"result-{repo}")
        if row is not None:
            row.setFocus()
        return row is not None

    def _nothing(self) -> QWidget:
        widen, words = self.widen.emit, self.tr("Search without filters")
        advice = self.tr("Try fewer or other words, or look without the filters.")
        return Panel(
            "card", "nothingFound", Label(self.tr("No model matches."), "strong"),
            Label(advice, "muted", wrap=True),
            UserAction("withoutFilters", "search", words, widen).button(), margins=(2.5, 2, 2.5, 2),
        )  # fmt: skip

    def _show(self, *widgets: QWidget) -> None:
        empty(self._column)
        for widget in widgets:
            self._column.addWidget(widget)
