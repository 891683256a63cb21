"""Puts a theme onto the application and follows the system where the settings say so."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication

from app.core.settings import Settings
from app.ui.stylesheet import stylesheet
from app.ui.theme import BASE, DARK, LIGHT, Theme, palette_of, text_font


class Appearance(QObject):
    """Widgets learn of a change by Qt's own PaletteChange event."""

    def __init__(self, app: QApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._wanted = "system"
        self._shown: Theme | None = None
        app.setStyle("Fusion")
        app.setFont(text_font(BASE))
        app.styleHints().colorSchemeChanged.connect(self._follow)

    def apply(self, settings: Settings) -> None:
        self._wanted = settings.theme
        self._show(self._theme())

    def _follow(self) -> None:
        self._show(self._theme())

    def _theme(self) -> Theme:
        if self._wanted == "system":
            dark = self._app.styleHints().colorScheme() is Qt.ColorScheme.Dark
        else:
            dark = self._wanted == "dark"
        return DARK if dark else LIGHT

    def _show(self, theme: Theme) -> None:
        if theme != self._shown:
            self._shown = theme
            self._app.setPalette(palette_of(theme))
            self._app.setStyleSheet(stylesheet(theme))
