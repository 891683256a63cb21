"""A report on an import, file by file, which can be scrolled, selected and read aloud."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.exchange.pages.report_words import sentences
from app.exchange.values.report import FileReport
from app.kit.look.format import figure
from app.kit.look.theme import GRID
from app.kit.widgets.column_page import ColumnPage
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel

_MOST_SHOWN = 200
"""Most files with a card of their own; the copied report has all."""


class ReportList(QWidget):
    """Cards, one for each file."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("importReport")
        self._page: ColumnPage | None = None
        self._box = QVBoxLayout(self)
        self._box.setContentsMargins(0, 0, 0, 0)

    def show_reports(self, reports: Sequence[FileReport], *, done: bool) -> None:
        """Show reports.

        Args:
            done: As in `report_words.told`.
        """
        if self._page is not None:
            self._page.hide()
            self._page.deleteLater()
        self._page = ColumnPage("importReportPage", spacing=GRID)
        for across in self._page.findChildren(QHBoxLayout):
            across.setContentsMargins(0, 0, GRID, 0)
        for report in reports[:_MOST_SHOWN]:
            self._page.column.addWidget(_card(report, done=done))
        if len(reports) > _MOST_SHOWN:
            more = self.tr("Further files: {count}").format(
                count=figure(len(reports) - _MOST_SHOWN)
            )
            self._page.column.addWidget(Label(more, "small"))
        self._page.column.addStretch(1)
        self._box.addWidget(self._page)


def _card(report: FileReport, *, done: bool) -> Panel:
    card = Panel("card", "importFile", margins=(2, 1.5, 2, 1.5), spacing=0.5)
    card.box.addWidget(Label(report.name, "strong", wrap=True, selectable=True))
    said = Label("\n".join(sentences(report, done=done)), "", wrap=True, selectable=True)
    said.setObjectName("importFileSaid")
    card.box.addWidget(said)
    return card
