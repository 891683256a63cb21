"""The settings dialog: sections at the left, a form at the right; changes are saved at once.

It begins with the settings that most people need, and those that are changed; “All options” shows
the others. The search finds all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QListWidget,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.base.language import translated
from app.kit.focus_in_sight import scroll_to_focus
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.chip import Chip
from app.kit.widgets.enter import ENTER, press_focused
from app.kit.widgets.fields import ComboBox, LineField
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.settings.pages.setting_row import EditorMaker, SettingRow
from app.settings.presenters import SettingsService
from app.settings.values.declared import SECTIONS
from app.settings.values.fields import Settings, fields, section_of
from engines.errors import UserError

_WIDTH_FOR_TWO_COLUMNS = 640
"""In pixels. From this width on the sections are beside the form, otherwise above it."""


class SettingsDialog(QDialog):
    """The settings dialog. It names no setting; everything follows from the settings model."""

    def __init__(
        self,
        settings: SettingsService,
        notes: Mapping[str, str],
        links: Mapping[str, tuple[str, Callable[[], object]]],
        editors: Mapping[str, EditorMaker],
        about: QWidget,
        about_words: str,
        parent: QWidget | None = None,
    ) -> None:
        """Build the dialog from the settings.

        Args:
            notes: By a setting's name, why it has no effect on this computer; "" if it has.
            links: By a section's name, the text and the action of a button that opens a page.
            editors: By a setting's name, the function that creates its editor, for a setting whose
                type does not determine one.
            about: The last section.
            about_words: Its words, in lower case, for the search.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("settingsDialog")
        self.setWindowTitle(self.tr("Settings"))
        self.resize(800, 560)
        self._settings = settings
        self._notes = notes
        self._links = links
        self._editors = editors
        self._rows: dict[str, SettingRow] = {}
        self._more_lines: dict[str, Label] = {}
        self._kept = set(settings.current.changes())
        self._has_vllm = False
        self._about = about
        self._about_words = about_words
        self._area = QScrollArea()
        self._parts: list[QWidget] = []
        self._make_side()
        self._make_form()
        self._side = Panel("side", "settingsSide", margins=(1.5, 2, 1.5, 2))
        for part in (self._search, self._all, self._sections, self._menu):
            self._side.box.addWidget(part)
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._across.setContentsMargins(0, 0, 0, 0)
        self._across.setSpacing(0)
        self._across.addWidget(self._side)
        self._across.addWidget(self._area, 1)
        self._sections.currentRowChanged.connect(self._show_section)
        self._menu.activated.connect(self._sections.setCurrentRow)
        self._sections.setCurrentRow(0)
        self._arrange()
        self._search.setFocus()
        settings.changed.connect(self._show_values)

    def go_to(self, name: str) -> None:
        """Show a setting and focus its editor."""
        row = self._rows[name]
        self._search.clear()
        self._kept.add(name)
        self._sections.setCurrentRow(SECTIONS.index(section_of(fields()[name])))
        self._filter("")
        row.editor.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._area.ensureWidgetVisible(row)

    def show_vllm(self, can_run: bool) -> None:
        """Show vLLM's settings in their section if it can run here; if not, the search finds them.

        Until this is called, they are left out of their section.
        """
        self._has_vllm = can_run
        for name, row in self._rows.items():
            if fields()[name].engine == "vllm":
                row.show_note("" if can_run else self.tr("vLLM cannot run on this computer."))
        self._filter(self._search.text())

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus for Tab, and scroll to it."""
        moved = super().focusNextPrevChild(forward)
        scroll_to_focus(self)
        return moved

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let Enter press only the button that has the focus; there is no default button."""
        if not press_focused(self, event) and event.key() not in ENTER:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the sections beside or above the form."""
        super().resizeEvent(event)
        self._arrange()

    def _make_side(self) -> None:
        titles = [*map(translated, SECTIONS), self.tr("About")]
        self._sections = QListWidget()
        self._sections.setObjectName("sections")
        self._sections.setAccessibleName(self.tr("Sections"))
        self._sections.setFixedWidth(184)
        self._sections.addItems(titles)
        self._menu = ComboBox()
        self._menu.setObjectName("sectionsMenu")
        self._menu.setAccessibleName(self.tr("Sections"))
        self._menu.addItems(titles)
        self._search = LineField(
            "searchSettings", self.tr("Search settings"), hint=self.tr("Search"), clears=True
        )
        self._search.textChanged.connect(self._filter)
        self._all = Chip(
            self.tr("All options"), "allOptions", checked=self._settings.shows_all_options
        )
        self._all.toggled.connect(self._show_all)

    def _make_form(self) -> None:
        page = QWidget()
        page.setProperty("look", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(4 * GRID, 3 * GRID, 4 * GRID, 3 * GRID)
        column.setSpacing(3 * GRID)
        values = self._settings.current.values()
        self._parts = [*(self._part(section, values) for section in SECTIONS), self._about]
        for part in self._parts:
            column.addWidget(part)
        self._no_match = Label(
            self.tr("No setting matches. Try another word."), "muted", name="noSetting", wrap=True
        )
        column.addWidget(self._no_match)
        column.addStretch(1)
        area = self._area
        area.setObjectName("settingsArea")
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)

    def _part(self, section: str, values: Mapping[str, object]) -> QWidget:
        part = QWidget()
        part.setObjectName(f"section-{section.lower()}")
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)  # each row also keeps room for its mark
        column.addWidget(self._head(section))
        for name, field in fields().items():
            if section_of(field) == section and field.in_form:
                make_editor = self._editors.get(name)
                row = SettingRow(name, field, values[name], make=make_editor, resets=True)
                row.changed.connect(self._change)
                row.show_note(self._notes.get(name, ""))
                self._rows[name] = row
                column.addWidget(row)
        self._more_lines[section] = Label("", "muted", name=f"more-{section.lower()}", wrap=True)
        column.addWidget(self._more_lines[section])
        return part

    def _head(self, section: str) -> QWidget:
        head = FlowRow(Label(translated(section), "title"))
        if section in self._links:
            text, open_page = self._links[section]
            button = LabelledButton("forward", text, f"way-{section.lower()}")
            button.clicked.connect(self.accept)
            button.clicked.connect(lambda: open_page())  # noqa: PLW0108 - `clicked` would pass an argument
            head.add(button)
        return head

    def _change(self, name: str, value: object) -> None:
        try:
            self._settings.set(name, value)
        except UserError as error:
            self._rows[name].show_problem(f"{translated(error.why)} {translated(error.do)}")
        else:
            self._rows[name].show_problem("")
            self._show_values(self._settings.current)

    def _show_values(self, settings: Settings) -> None:
        values = settings.values()
        self._kept.update(settings.changes())
        for name, row in self._rows.items():
            row.show_value(values[name])

    def _show_section(self, number: int) -> None:
        self._menu.setCurrentIndex(number)
        if self._search.text():
            self._search.clear()
        else:
            self._filter("")
        self._area.verticalScrollBar().setValue(0)

    def _show_all(self, shows_all: bool) -> None:
        self._settings.shows_all_options = shows_all
        self._filter(self._search.text())

    def _is_usable(self, name: str) -> bool:
        """Return whether a setting belongs in its section on this computer."""
        return self._has_vllm or fields()[name].engine != "vllm" or name in self._kept

    def _is_first(self, name: str) -> bool:
        """Return whether a setting is shown without “All options”.

        One that was changed stays until the dialog closes, so that resetting it moves nothing.
        """
        return fields()[name].common or name in self._kept

    def _filter(self, words: str) -> None:
        """Show the chosen section or, while searching, all rows that contain all the words."""
        searched = words.lower().split()
        matches = {
            name for name, row in self._rows.items() if all(word in row.words for word in searched)
        }
        shows_all = self._all.isChecked()
        more = Counter[str]()
        for name, row in self._rows.items():
            is_offered = self._is_usable(name) and (shows_all or self._is_first(name))
            row.setVisible(name in matches if searched else is_offered)
            more[section_of(fields()[name])] += self._is_usable(name) and not is_offered
        for section, line in self._more_lines.items():
            one, several = (
                self.tr("One more under “All options”."),
                self.tr("{count} more under “All options”."),
            )
            line.setText((one if more[section] == 1 else several).format(count=more[section]))
            line.setVisible(bool(more[section]) and not searched)
        sections = {section_of(fields()[name]) for name in matches}
        about_matches = all(word in self._about_words for word in searched)
        for number, part in enumerate(self._parts):
            is_match = SECTIONS[number] in sections if number < len(SECTIONS) else about_matches
            part.setVisible(is_match if searched else number == self._sections.currentRow())
        self._no_match.setVisible(bool(searched) and not matches and not about_matches)

    def _arrange(self) -> None:
        """Put the sections beside the form, or above it if there is no room."""
        is_beside = self.width() >= scaled(_WIDTH_FOR_TWO_COLUMNS)
        direction = QBoxLayout.Direction
        first, second = direction.LeftToRight, direction.TopToBottom
        self._across.setDirection(first if is_beside else second)
        self._side.box.setDirection(second if is_beside else first)
        self._sections.setVisible(is_beside)
        self._menu.setVisible(not is_beside)
