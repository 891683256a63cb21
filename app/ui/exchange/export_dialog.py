"""How chats are to be exported: the kind of file, and what goes into it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app.core.export import ExportKind, ExportOptions
from app.ui.format import number
from app.ui.theme import GRID
from app.ui.widgets.label import Label


class ExportDialog(QDialog):
    """chosen(options, one_file): how; where to is asked next."""

    chosen = Signal(object, bool)

    def __init__(self, title: str, count: int, parent: QWidget | None = None) -> None:
        """title: of the one chat. count: of the chats."""
        super().__init__(parent)
        self.setObjectName("exportDialog")
        self.setMinimumWidth(440)
        if count == 1:
            self.setWindowTitle(self.tr("Export “{0}”").format(title))
        else:
            self.setWindowTitle(self.tr("Export {0} chats").format(number(count)))
        column = QVBoxLayout(self)
        column.setContentsMargins(3 * GRID, 3 * GRID, 3 * GRID, 2 * GRID)
        column.setSpacing(2 * GRID)
        column.addWidget(Label(self.windowTitle(), "title", wrap=True))
        self._kinds = QButtonGroup(self)
        self._by_button: dict[QRadioButton, ExportKind] = {}
        for kind, name, said in self._offered():
            column.addLayout(self._kind(kind, name, said))
        self._reasoning = self._check("exportReasoning", self.tr("With the model's reasoning"))
        self._branches = self._check("exportBranches", self.tr("With all branches"))
        self._one_file = self._check("exportOneFile", self.tr("All chats in one file"))
        self._one_file.setVisible(count > 1)
        for check in (self._reasoning, self._branches, self._one_file):
            column.addWidget(check)
        column.addStretch(1)
        column.addLayout(self._buttons())
        self._kinds.buttonToggled.connect(self._show_kind)
        self._kinds.buttons()[0].setChecked(True)

    def _offered(self) -> tuple[tuple[ExportKind, str, str], ...]:
        return (
            ("md", "Markdown", self.tr("Plain text that most programs can read.")),
            ("html", "HTML", self.tr("One page for a browser, with colours and formulas.")),
            ("pdf", "PDF", self.tr("Pages to print or to send.")),
            ("json", "JSON", self.tr("Everything; Hearth can import it again without loss.")),
        )

    def _kind(self, kind: ExportKind, name: str, said: str) -> QVBoxLayout:
        button = QRadioButton(name)
        button.setObjectName(f"export-{kind}")
        button.setAccessibleName(name)
        button.setAccessibleDescription(said)
        self._kinds.addButton(button)
        self._by_button[button] = kind
        words = Label(said, "small", wrap=True)
        words.setContentsMargins(3 * GRID, 0, 0, 0)
        box = QVBoxLayout()
        box.setSpacing(2)
        box.addWidget(button)
        box.addWidget(words)
        return box

    def _check(self, name: str, text: str) -> QCheckBox:
        check = QCheckBox(text)
        check.setObjectName(name)
        check.setAccessibleName(text)
        return check

    def _buttons(self) -> QHBoxLayout:
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("exportCancel")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        go = QPushButton(self.tr("Choose where…"))
        go.setObjectName("exportGo")
        go.setProperty("look", "primary")
        go.setDefault(True)
        go.clicked.connect(self._go)
        for button in (cancel, go):
            button.setAccessibleName(button.text())
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(go)
        return row

    def _chosen_kind(self) -> ExportKind:
        return next(kind for button, kind in self._by_button.items() if button.isChecked())

    def _show_kind(self) -> None:
        """JSON always has everything."""
        always = self._kinds.checkedButton() is not None and self._chosen_kind() == "json"
        for check in (self._reasoning, self._branches):
            check.setEnabled(not always)

    def _go(self) -> None:
        options = ExportOptions(
            self._chosen_kind(), self._reasoning.isChecked(), self._branches.isChecked()
        )
        self.accept()
        self.chosen.emit(options, self._one_file.isChecked())
