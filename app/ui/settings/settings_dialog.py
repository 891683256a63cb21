"""The settings: sections on the left, their form on the right, saved as they are changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.core.settings.declared import SECTIONS
from app.core.settings.fields import fields, section_of
from app.presenters.settings import SettingsService
from app.ui.look.language import translated
from app.ui.look.theme import GRID
from app.ui.settings.setting_row import SettingRow
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from engines.errors import UserError


class SettingsDialog(QDialog):
    """Knows no setting by name: all of it follows from the settings model."""

    def __init__(
        self,
        settings: SettingsService,
        data_folder: Path,
        notes: Mapping[str, str],
        ways: Mapping[str, tuple[str, Callable[[], object]]],
        parent: QWidget | None = None,
    ) -> None:
        """Build the dialog from the settings.

        notes: by the name of a setting, why it cannot be as it says here; "" if it can.

        ways: by the name of a section, what its button says and does, which leads to its page.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("settingsDialog")
        self.setWindowTitle(self.tr("Settings"))
        self.resize(800, 560)
        self._settings = settings
        self._notes = notes
        self._ways = ways
        self._rows: dict[str, SettingRow] = {}
        self._sections = QListWidget()
        self._sections.setObjectName("sections")
        self._sections.setAccessibleName(self.tr("Sections"))
        self._search = QLineEdit()
        self._search.setObjectName("searchSettings")
        self._search.setAccessibleName(self.tr("Search settings"))
        self._search.setPlaceholderText(self.tr("Search"))
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._filter)
        self._pages = QStackedWidget()
        for section in SECTIONS:
            self._sections.addItem(translated(section))
            self._pages.addWidget(self._page(section))
        self._sections.currentRowChanged.connect(self._pages.setCurrentIndex)
        self._sections.setCurrentRow(0)
        side = Panel("side", "settingsSide", margins=(1.5, 2, 1.5, 2))
        side.setFixedWidth(208)
        side.box.addWidget(self._search)
        side.box.addWidget(self._sections, 1)
        right = QVBoxLayout()
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addWidget(self._pages, 1)
        right.addWidget(Panel("line", "settingsLine"))
        right.addWidget(self._folder_line(data_folder))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(side)
        row.addLayout(right, 1)

    def go_to(self, name: str) -> None:
        """Show one setting, ready to be changed."""
        row = self._rows[name]
        self._sections.setCurrentRow(SECTIONS.index(section_of(fields()[name])))
        row.editor.setFocus(Qt.FocusReason.ShortcutFocusReason)
        area = self._pages.currentWidget()
        if isinstance(area, QScrollArea):
            area.ensureWidgetVisible(row)

    def _page(self, section: str) -> QWidget:
        page = QWidget()
        page.setProperty("look", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 3 * GRID)
        column.setSpacing(3 * GRID)
        column.addLayout(self._head(section))
        values = self._settings.current.values()
        for name, field in fields().items():
            if section_of(field) == section and field.in_form:
                row = SettingRow(name, field, values[name])
                row.changed.connect(self._change)
                row.show_note(self._notes.get(name, ""))
                self._rows[name] = row
                column.addWidget(row)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        return area

    def _head(self, section: str) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(Label(translated(section), "title"), 1)
        if section in self._ways:
            words, go = self._ways[section]
            way = LabelledButton("forward", words, f"way-{section.lower()}")
            way.clicked.connect(self.accept)
            way.clicked.connect(lambda: go())  # noqa: PLW0108 - not told that it is pressed in
            row.addWidget(way)
        return row

    def _folder_line(self, folder: Path) -> QWidget:
        line = Panel("", "dataFolder", across=True, margins=(4, 1, 3, 1.5))
        line.box.addWidget(Label(self.tr("Data folder"), "small"))
        line.box.addWidget(Label(str(folder), "small", name="dataFolderPath", selectable=True), 1)
        copy = LabelledButton("copy", self.tr("Copy"), "copyDataFolder", look="quiet")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(str(folder)))
        line.box.addWidget(copy)
        return line

    def _change(self, name: str, value: object) -> None:
        try:
            self._settings.set(name, value)
        except UserError as error:
            self._rows[name].show_problem(f"{translated(error.why)} {translated(error.do)}")
        else:
            self._rows[name].show_problem("")

    def _filter(self, words: str) -> None:
        """Show only rows with all the words, and go to the first section that has any."""
        wanted = words.lower().split()
        found: list[int] = []
        for name, row in self._rows.items():
            matches = all(word in row.words for word in wanted)
            row.setVisible(matches)
            if matches:
                found.append(SECTIONS.index(section_of(fields()[name])))
        for index in range(len(SECTIONS)):
            self._sections.item(index).setHidden(bool(wanted) and index not in found)
        if wanted and found and self._sections.currentRow() not in found:
            self._sections.setCurrentRow(found[0])
