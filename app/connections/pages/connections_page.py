"""The page of connections that left this computer or were blocked."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from app.base.language import in_full
from app.connections.pages.words import as_text, cells, heads, summary
from app.connections.presenters import Connections
from app.kit.look.scale import scaled
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.fields import LineField
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.page_head import PageHead
from app.kit.widgets.table import ItemTable
from app.net.values.connections import LoggedConnection
from app.net.values.traffic import matching, traffic

_LEAST = 240
_READ_MS = 2000
_WIDTHS = (168, 152, 172, 72, 88, 104)
_HOST = 1
_NUMBERS = (3, 4)


class ConnectionsPage(PartPage):
    """The log of all connections in a table, which is filtered while the user types."""

    def __init__(
        self,
        service: Connections,
        notifier: Notifier,
        navigation: Navigation,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("connectionsPage", parent)
        self._navigation = navigation
        self._service = service
        self._notifier = notifier
        self._all: Sequence[LoggedConnection] = ()
        column = self.column
        column.addWidget(self._head())
        self._summary = Label(self.tr("Reading the list…"), name="connectionsSummary", wrap=True)
        column.addWidget(self._summary)
        self._filter = LineField(
            "filterConnections",
            self.tr("Filter the connections"),
            hint=self.tr("Filter by host, purpose or result"),
            clears=True,
        )
        self._filter.textChanged.connect(self._show)
        column.addWidget(self._filter)
        self._nothing = Label("", "muted", name="noConnections", wrap=True)
        column.addWidget(self._nothing)
        self._step = LabelledButton("search", self.tr("Discover models"), "connectionsDiscover")
        self._step.clicked.connect(lambda: navigation.go_to("models", "discover"))
        column.addWidget(self._step, 0, Qt.AlignmentFlag.AlignLeft)
        self._table = self._make_table()
        column.addWidget(self._table, 1)
        column.addStretch(0)
        self._tick = QTimer(self)
        self._tick.setInterval(_READ_MS)
        self._tick.timeout.connect(self._read)
        self._show()
        self._nothing.hide()
        self._step.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Set the widths of the columns again, because the font size may have changed."""
        super().resizeEvent(event)
        for column, width in enumerate(_WIDTHS):
            self._table.setColumnWidth(column, scaled(width))
        self._table.horizontalHeader().setMinimumSectionSize(scaled(min(_WIDTHS)))

    def showEvent(self, event: QShowEvent) -> None:
        """Read the log, and read it again every two seconds."""
        super().showEvent(event)
        self._read()
        self._tick.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop reading the log."""
        super().hideEvent(event)
        self._tick.stop()

    def _read(self) -> None:
        self._service.look(self._show_read, self._failed)

    def _show_read(self, connections: Sequence[LoggedConnection]) -> None:
        self._all = connections
        self._summary.setText(summary(traffic(connections)))
        self._show()

    def _failed(self, error: Exception) -> None:
        """Show an error once, and stop reading the log until the page is shown again."""
        self._tick.stop()
        show = self._notifier.error_handler(
            lambda user_error: self._summary.setText(in_full(user_error))
        )
        show(error)

    def _show(self) -> None:
        words = self._filter.text()
        matching_rows = matching(self._all, words)
        self._table.show_items(matching_rows)
        self._table.setVisible(bool(matching_rows))
        self._filter.setVisible(bool(self._all))
        self._clear.setEnabled(bool(self._all))
        self._copy.setEnabled(bool(matching_rows))
        if self._all:
            text = self.tr("No connection matches “{words}”.").format(words=words.strip())
        else:
            text = self.tr(
                "Hearth connects only when you search for models, look at one or download it, and "
                "when you use a server that you added. Each of these connections is listed here."
            )
        self._nothing.setText(text)
        self._nothing.setVisible(not matching_rows)
        self._step.setVisible(not self._all)

    def _head(self) -> PageHead:
        self._copy = LabelledButton("copy", self.tr("Copy as text"), "copyConnections")
        self._copy.clicked.connect(self._copy_text)
        self._clear = LabelledButton("trash", self.tr("Clear"), "clearConnections")
        self._clear.clicked.connect(self._ask_to_clear)
        return PageHead(
            self.tr("Connections"),
            "connectionsBack",
            self._navigation.go_to_chat,
            self._copy,
            self._clear,
        )

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText(as_text(self._table.items))
        self._notifier.say_copied()

    def _ask_to_clear(self) -> None:
        self._notifier.confirm(
            self.tr("Clear the list of connections?"),
            self.tr("You will no longer see what Hearth has connected to."),
            ("confirmClear", self.tr("Clear the list")),
            ("keepConnections", self.tr("Keep it")),
            lambda: self._service.clear(lambda: self._show_read([]), self._failed),
        )

    def _make_table(self) -> ItemTable[LoggedConnection]:
        table: ItemTable[LoggedConnection] = ItemTable(
            "connections", self.tr("Connections, the newest first"), heads(), cells,
            key=attrgetter("started"), numbers=_NUMBERS,
        )  # fmt: skip
        table.setMinimumHeight(_LEAST)
        table.horizontalHeader().setSectionResizeMode(_HOST, QHeaderView.ResizeMode.Stretch)
        return table
