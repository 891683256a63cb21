"""Asks for what the variables of a text stand for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton


class VariablesDialog(QDialog):
    """filled(values): each name with what was written, once there is something for all of them."""

    filled = Signal(object)

    def __init__(self, title: str, names: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("variablesDialog")
        self.setWindowTitle(title)
        self.setMinimumWidth(420)
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 2 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(Label(title, "title"))
        self._lines: dict[str, QLineEdit] = {}
        for number, name in enumerate(names):
            line = QLineEdit()
            line.setObjectName(f"variable{number + 1}")
            line.setAccessibleName(name)
            line.textChanged.connect(self._check)
            line.returnPressed.connect(self._on)
            self._lines[name] = line
            field = QVBoxLayout()
            field.setSpacing(4)
            field.addWidget(Label(name[:1].upper() + name[1:], "strong"))
            field.addWidget(line)
            column.addLayout(field)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addStretch(1)
        leave = LabelledButton("close", self.tr("Cancel"), "leaveVariables")
        leave.setAutoDefault(False)
        leave.clicked.connect(self.reject)
        self._use = LabelledButton(
            "check", self.tr("Use"), "useVariables", look="primary", tone="on_accent"
        )
        self._use.setAutoDefault(False)
        self._use.clicked.connect(self._done)
        row.addWidget(leave)
        row.addWidget(self._use)
        column.addLayout(row)
        self._check()
        next(iter(self._lines.values())).setFocus()

    def _on(self) -> None:
        """Enter goes to the next field that is empty, and from the last one on."""
        empty = (line for line in self._lines.values() if not line.text().strip())
        line = next(empty, None)
        if line is None:
            self._done()
        else:
            line.setFocus()

    def _done(self) -> None:
        values = {name: line.text().strip() for name, line in self._lines.items()}
        self.accept()
        self.filled.emit(values)

    def _check(self) -> None:
        self._use.setEnabled(all(line.text().strip() for line in self._lines.values()))
