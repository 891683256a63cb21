"""The list of all shortcuts."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from app.ui.actions import commands, shown_keys
from app.ui.theme import GRID
from app.ui.widgets.label import Label


class ShortcutsDialog(QDialog):
    """Made from the same table as the shortcuts themselves."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("shortcutsDialog")
        self.setWindowTitle(self.tr("Shortcuts"))
        self.resize(480, 720)
        page = QWidget()
        page.setProperty("look", "page")
        grid = QGridLayout(page)
        grid.setContentsMargins(3 * GRID, 2 * GRID, 3 * GRID, 2 * GRID)
        grid.setVerticalSpacing(GRID)
        grid.setColumnStretch(0, 1)
        row = 0
        for group, members in groupby(commands(), lambda command: command.group):
            heading = Label(group, "group")
            heading.setContentsMargins(0, GRID if row else 0, 0, 0)
            grid.addWidget(heading, row, 0, 1, 2)
            row += 1
            for command in members:
                grid.addWidget(Label(command.text), row, 0)
                keys = Label(" / ".join(shown_keys(keys) for keys in command.keys), "key")
                grid.addWidget(keys, row, 1, Qt.AlignmentFlag.AlignRight)
                row += 1
        grid.setRowStretch(row, 1)
        area = QScrollArea()
        area.setObjectName("shortcutList")
        area.setAccessibleName(self.tr("Shortcuts"))
        area.setWidgetResizable(True)
        area.setWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(area)
