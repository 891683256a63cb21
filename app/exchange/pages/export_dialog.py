"""The dialog for an export: the file format, and what to include."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.exchange.values.export import ExportKind, ExportOptions
from app.kit.look.format import figure
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.fields import ComboBox
from app.kit.widgets.label import Label
from app.kit.widgets.switch import Switch


class ExportDialog(Dialog):
    """The dialog for an export.

    Signals:
        chosen(options, one_file): The user chose the options; the place is asked next.
    """

    chosen = Signal(object, bool)

    def __init__(self, title: str, count: int, parent: QWidget | None = None) -> None:
        """Create the dialog.

        Args:
            title: The chat's title, if there is only one chat.
            count: The number of chats.
        """
        super().__init__("exportDialog", width=440, parent=parent)
        if count == 1:
            self.set_title(self.tr("Export “{title}”").format(title=title))
        else:
            self.set_title(self.tr("Export {count} chats").format(count=figure(count)))
        column = self.column
        self._kind = ComboBox()
        self._kind.setObjectName("exportKind")
        self._kind.setAccessibleName(self.tr("Format"))
        for kind, name in (("md", "Markdown"), ("html", "HTML"), ("pdf", "PDF"), ("json", "JSON")):
            self._kind.addItem(name, kind)
        self._said = Label("", "small", name="exportSaid", wrap=True)
        column.addWidget(self._kind)
        column.addWidget(self._said)
        self._reasoning = self._switch(
            column, "exportReasoning", self.tr("Include the model’s reasoning")
        )
        self._branches = self._switch(column, "exportBranches", self.tr("Include all branches"))
        self._one_file: Switch | None = None
        if count > 1:
            self._one_file = self._switch(column, "exportOneFile", self.tr("All chats in one file"))
        column.addStretch(1)
        self._make_buttons()
        self._kind.currentIndexChanged.connect(self._show_kind)
        self._show_kind()

    def _switch(self, column: QVBoxLayout, name: str, text: str) -> Switch:
        switch = Switch()
        switch.setObjectName(name)
        switch.setAccessibleName(text)
        row = QHBoxLayout()
        row.addWidget(Label(text, wrap=True), 1)
        row.addWidget(switch)
        column.addLayout(row)
        return switch

    def _make_buttons(self) -> None:
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("exportCancel")
        cancel.clicked.connect(self.reject)
        go = QPushButton(self.tr("Choose where…"))
        go.setObjectName("exportGo")
        go.setProperty("look", "primary")
        go.setDefault(True)
        go.clicked.connect(self._go)
        for button in (cancel, go):
            button.setAccessibleName(button.text())
        self.add_buttons(cancel, go)

    def _chosen(self) -> ExportKind:
        return cast(ExportKind, self._kind.currentData())

    def _show_kind(self) -> None:
        """Explain the chosen format; for JSON, which always has everything, fix the switches on."""
        kind = self._chosen()
        said: dict[ExportKind, str] = {
            "md": self.tr("Plain text that most programs can read."),
            "html": self.tr("One page for a browser, with colours and formulas."),
            "pdf": self.tr("Pages to print or to send."),
            "json": self.tr("Everything; Hearth can import it again without loss."),
        }
        self._said.setText(said[kind])
        self._kind.setAccessibleDescription(said[kind])
        for switch in (self._reasoning, self._branches):
            switch.setEnabled(kind != "json")
            if kind == "json":
                switch.setChecked(True)

    def _go(self) -> None:
        options = ExportOptions(
            self._chosen(), self._reasoning.isChecked(), self._branches.isChecked()
        )
        self.accept()
        one_file = self._one_file is not None and self._one_file.isChecked()
        self.chosen.emit(options, one_file)
