"""The dialog that asks for the values of a text's variables."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.kit.widgets.dialog import Dialog
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton


class VariablesDialog(Dialog):
    """A dialog that asks for the values of variables.

    Signals:
        filled(values): The user filled in all variables; the values are by name.
    """

    filled = Signal(object)

    def __init__(self, title: str, names: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__("variablesDialog", width=420, parent=parent)
        self.set_title(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        column = self.column
        self._lines: dict[str, QLineEdit] = {}
        for number, name in enumerate(names):
            line = QLineEdit()
            line.setObjectName(f"variable{number + 1}")
            line.setAccessibleName(name)
            line.textChanged.connect(self._check)
            line.returnPressed.connect(self._go_on)
            self._lines[name] = line
            field = QVBoxLayout()
            field.setSpacing(4)
            field.addWidget(Label(name[:1].upper() + name[1:], "strong"))
            field.addWidget(line)
            column.addLayout(field)
        column.addStretch(1)
        leave = LabelledButton("close", self.tr("Cancel"), "leaveVariables")
        leave.setAutoDefault(False)
        leave.clicked.connect(self.reject)
        self._use = LabelledButton(
            "check", self.tr("Use"), "useVariables", look="primary", tone="on_accent"
        )
        self._use.setAutoDefault(False)
        self._use.clicked.connect(self._emit_filled)
        self.add_buttons(leave, self._use)
        self._check()
        next(iter(self._lines.values())).setFocus()

    def _go_on(self) -> None:
        """On Enter, move to the next empty field, or finish if there is none."""
        empty = (line for line in self._lines.values() if not line.text().strip())
        line = next(empty, None)
        if line is None:
            self._emit_filled()
        else:
            line.setFocus()

    def _emit_filled(self) -> None:
        values = {name: line.text().strip() for name, line in self._lines.items()}
        self.accept()
        self.filled.emit(values)

    def _check(self) -> None:
        self._use.setEnabled(all(line.text().strip() for line in self._lines.values()))
