"""The activity page: plots of the engines' work over the last minutes."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QSizePolicy, QWidget

from app.activity.pages.plot import Plot
from app.activity.pages.words import PlotWords, description, headings, latest, plots, rows, summary
from app.activity.presenters import Activity
from app.activity.values.activity import ActivityCurves, ActivityReport
from app.base.language import in_full
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import PageHead
from app.kit.widgets.panel import Panel
from app.kit.widgets.table import ItemTable

_REFRESH_MS = 1000
_TABLE = 420


class ActivityPage(PartPage):
    """The activity page. It reads the activity only while it is visible."""

    def __init__(
        self,
        activity: Activity,
        notifier: Notifier,
        navigation: Navigation,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("activityPage", parent)
        self._activity = activity
        self._notifier = notifier
        self._navigation = navigation
        column = self.column
        column.addWidget(self._head())
        self._summary = Label("", "muted", name="activitySummary", wrap=True)
        column.addWidget(self._summary)
        self._no_activity = Label(
            self.tr(
                "There was no request in the last ten minutes. Ask something to see the activity."
            ),
            "muted",
            name="noActivity",
            wrap=True,
        )
        column.addWidget(self._no_activity)
        self._step = LabelledButton("chat", self.tr("Go to the chat"), "activityChat")
        self._step.clicked.connect(navigation.go_to_chat)
        column.addWidget(self._step, 0, Qt.AlignmentFlag.AlignLeft)
        self._cards = [_PlotCard(words) for words in plots()]
        self._plots = FlowRow(*self._cards)
        self._plots.setObjectName("activityPlots")
        column.addWidget(self._plots)
        self._table = self._make_table()
        column.addWidget(self._table)
        column.addStretch(1)
        self._timer = QTimer(self)
        self._timer.setInterval(_REFRESH_MS)
        self._timer.timeout.connect(self._refresh)
        for widget in (self._no_activity, self._step, self._plots, self._table):
            widget.hide()

    def showEvent(self, event: QShowEvent) -> None:
        """Start to refresh the plots."""
        super().showEvent(event)
        self._refresh()
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop refreshing while the page is hidden."""
        super().hideEvent(event)
        self._timer.stop()

    def _refresh(self) -> None:
        self._activity.refresh(self._show, self._failed)

    def _failed(self, error: Exception) -> None:
        """Show an error once, and stop reading until the page is shown again."""
        self._timer.stop()
        self._notifier.error_handler(lambda problem: self._summary.setText(in_full(problem)))(error)

    def _show(self, report: ActivityReport) -> None:
        self._summary.setText(summary(report))
        self._no_activity.setVisible(not report.recent)
        self._step.setVisible(not report.recent)
        self._as_table.setEnabled(bool(report.recent))
        self._plots.setVisible(bool(report.recent) and not self._as_table.isChecked())
        self._table.setVisible(bool(report.recent) and self._as_table.isChecked())
        for card in self._cards:
            card.show_curves(report.curves)
        self._table.show_items(rows(report))

    def _head(self) -> PageHead:
        self._as_table = LabelledButton("log", self.tr("As a table"), "activityAsTable")
        self._as_table.setCheckable(True)
        self._as_table.toggled.connect(self._show_table)
        return PageHead(
            self.tr("Activity"), "activityBack", self._navigation.go_to_chat, self._as_table
        )

    def _show_table(self, table: bool) -> None:
        self._plots.setVisible(not table)
        self._table.setVisible(table)

    def _make_table(self) -> ItemTable[tuple[str, ...]]:
        table: ItemTable[tuple[str, ...]] = ItemTable(
            "activityTable", self.tr("Activity by minute, the latest first"), headings(),
            lambda minute: minute, key=lambda minute: minute[0],
        )  # fmt: skip
        table.setMinimumHeight(_TABLE)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        return table


class _PlotCard(Panel):
    """A plot below its title and its last value."""

    def __init__(self, words: PlotWords) -> None:
        super().__init__("card", f"{words.name}Card")
        self._words = words
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        above = QHBoxLayout()
        above.addWidget(Label(words.title, "strong", wrap=True), 1)
        self._now = Label("", "accent", name=f"{words.name}Now")
        above.addWidget(self._now, 0, Qt.AlignmentFlag.AlignTop)
        self.box.addLayout(above)
        self._plot = Plot(words.write, words.top, dots=words.dots, name=f"{words.name}Plot")
        self._plot.setAccessibleName(words.title)
        self.box.addWidget(self._plot)

    def show_curves(self, curves: ActivityCurves) -> None:
        curve = self._words.curve(curves)
        self._plot.show_curve(curve)
        self._plot.setAccessibleDescription(description(self._words, curves))
        value = latest(curve)
        self._now.setText("–" if value is None else self._words.write(value))
