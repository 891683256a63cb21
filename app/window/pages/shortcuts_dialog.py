"""The dialog that lists all shortcuts and lets the user change them."""

from __future__ import annotations

from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.base.language import translated
from app.chats.search.values.fuzzy import fit, folded
from app.kit.look.theme import GRID
from app.kit.widgets.dialog import EnterDialog
from app.kit.widgets.fields import LineField
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.settings.presenters import SettingsService
from app.settings.values.fields import Settings
from app.window.desktop.pages.keys import refusal, with_keys
from app.window.desktop.pages.shortcut_row import ShortcutRow
from app.window.pages.actions import commands
from engines.errors import UserError


class ShortcutsDialog(EnterDialog):
    """The list of shortcuts, made from the table of commands. Changes are saved at once."""

    def __init__(self, settings: SettingsService, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("shortcutsDialog")
        self.setWindowTitle(self.tr("Shortcuts"))
        self.resize(560, 720)
        self._settings = settings
        self._rows: dict[str, ShortcutRow] = {}
        self._groups: list[tuple[Label, list[ShortcutRow]]] = []
        self._search = LineField(
            "searchShortcuts",
            self.tr("Search shortcuts"),
            hint=self.tr("Search by command or key"),
            clears=True,
        )
        self._search.textChanged.connect(self._filter)
        top = Panel("", "shortcutsTop", margins=(3, 2, 3, 1))
        top.box.addWidget(self._search)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(top)
        column.addWidget(self._area(), 1)
        column.addWidget(self._below())
        settings.changed.connect(self._show)
        self._show(settings.current)

    def _area(self) -> QScrollArea:
        page = QWidget()
        page.setProperty("look", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(3 * GRID, 0, 3 * GRID, 2 * GRID)
        column.setSpacing(4)
        for group, members in groupby(commands(), lambda command: command.group):
            heading = Label(group, "group")
            heading.setContentsMargins(0, GRID if self._groups else 0, 0, 0)
            column.addWidget(heading)
            rows = []
            for command in members:
                row = ShortcutRow(command)
                row.pressed_keys.connect(self._change)
                row.reset.connect(self._reset)
                self._rows[command.name] = row
                rows.append(row)
                column.addWidget(row)
            self._groups.append((heading, rows))
        column.addStretch(1)
        area = QScrollArea()
        area.setObjectName("shortcutList")
        area.setAccessibleName(self.tr("Shortcuts"))
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setWidget(page)
        return area

    def _below(self) -> Panel:
        below = Panel("", "shortcutsBelow", across=True, margins=(3, 1, 2, 1.5))
        hint = self.tr("Click a command’s keys to change them.")
        below.box.addWidget(Label(hint, "small", wrap=True), 1)
        self._all = LabelledButton("again", self.tr("Reset all"), "resetShortcuts", look="quiet")
        self._all.setAutoDefault(False)
        self._all.clicked.connect(lambda: self._set({}))
        below.box.addWidget(self._all)
        return below

    def _show(self, settings: Settings) -> None:
        for row in self._rows.values():
            row.show_changes(settings.shortcuts)
        self._all.setEnabled(bool(settings.shortcuts))

    def _change(self, name: str, keys: str) -> None:
        changes = self._settings.current.shortcuts
        reason = refusal(name, keys, changes) if keys else ""
        self._rows[name].show_problem(reason)
        if not reason:
            self._set(with_keys(changes, name, keys), name)

    def _reset(self, name: str) -> None:
        """Restore the default shortcut, unless another command uses it by now."""
        changes = dict(self._settings.current.shortcuts)
        changes.pop(name, None)
        default_keys = self._rows[name].command.keys
        reasons = (refusal(name, keys, changes) for keys in default_keys)
        reason = next((sentence for sentence in reasons if sentence), "")
        self._rows[name].show_problem(reason)
        if not reason:
            self._set(changes, name)

    def _set(self, changes: dict[str, str], name: str = "") -> None:
        try:
            self._settings.set("shortcuts", changes)
        except UserError as error:
            row = self._rows.get(name) or next(iter(self._rows.values()))
            row.show_problem(f"{translated(error.why)} {translated(error.do)}")

    def _filter(self, words: str) -> None:
        typed = folded(words)
        for heading, rows in self._groups:
            for row in rows:
                row.setVisible(fit(typed, row.words) is not None)
            heading.setVisible(any(not row.isHidden() for row in rows))
