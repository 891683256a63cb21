"""How fast downloads may be, and how many files come at once: two of the settings."""

from __future__ import annotations

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.core.settings.fields import Settings, fields
from app.presenters.settings import SettingsService
from app.ui.look.language import translated
from app.ui.settings.setting_row import SettingRow
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel
from engines.errors import UserError

_NAMES = ("download_limit", "download_parallel")


class PaceCard(Panel):
    """A change holds within a second, also for what is under way."""

    def __init__(self, settings: SettingsService, parent: QWidget | None = None) -> None:
        super().__init__("card", "paceCard", margins=(2.5, 2, 2.5, 2), spacing=1.5, parent=parent)
        self._settings = settings
        self._rows: dict[str, SettingRow] = {}
        self.box.addWidget(Label(self.tr("How fast"), "group"))
        for name in _NAMES:
            self._rows[name] = self._row(name, settings.current)
            self.box.addWidget(self._rows[name])
        self._shown = settings.current

    def showEvent(self, event: QShowEvent) -> None:
        """They may have been changed in the settings since."""
        super().showEvent(event)
        now = self._settings.current
        for name in _NAMES:
            if getattr(now, name) != getattr(self._shown, name):
                before, self._rows[name] = self._rows[name], self._row(name, now)
                self.box.replaceWidget(before, self._rows[name])
                before.hide()
                before.deleteLater()
        self._shown = now

    def _row(self, name: str, settings: Settings) -> SettingRow:
        row = SettingRow(name, fields()[name], getattr(settings, name))
        row.changed.connect(self._change)
        return row

    def _change(self, name: str, value: object) -> None:
        try:
            self._settings.set(name, value)
        except UserError as error:
            self._rows[name].show_problem(f"{translated(error.why)} {translated(error.do)}")
        else:
            self._shown = self._settings.current
            self._rows[name].show_problem("")
