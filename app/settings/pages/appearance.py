"""The theme, contrast and zoom of the application, which can follow the system's preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication

from app.kit.look.fonts import text_font
from app.kit.look.scale import set_zoom, zoom
from app.kit.look.stylesheet import stylesheet
from app.kit.look.theme import BASE, Theme, chosen_theme, palette_of
from app.settings.values.fields import Settings

if TYPE_CHECKING:
    from app.kit.look.zoom import Zoom


class Appearance(QObject):
    """Applies the application's theme, font and zoom.

    Qt tells the widgets about a change with its own PaletteChange event.
    """

    def __init__(self, app: QApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._app = app
        self._settings = Settings()
        self._applied: tuple[Theme, float] | None = None
        self._zoom: Zoom | None = None
        set_zoom(app, 1.0)
        hints = app.styleHints()
        hints.colorSchemeChanged.connect(self._follow)
        hints.accessibility().contrastPreferenceChanged.connect(self._follow)

    def apply(self, settings: Settings) -> None:
        """Apply the theme, contrast and zoom of these settings."""
        self._settings = settings
        self._show(self._theme(), settings.zoom / 100)

    def _follow(self) -> None:
        self._show(self._theme(), zoom())

    def _theme(self) -> Theme:
        hints = self._app.styleHints()
        dark = self._settings.theme == "dark"
        if self._settings.theme == "system":
            dark = hints.colorScheme() is Qt.ColorScheme.Dark
        high = self._settings.contrast == "high"
        if self._settings.contrast == "system":
            preference = hints.accessibility().contrastPreference()
            high = preference is Qt.ContrastPreference.HighContrast
        return chosen_theme(dark=dark, high=high)

    def _show(self, theme: Theme, size: float) -> None:
        if self._applied == (theme, size):
            return
        self._applied = (theme, size)
        self._app.setPalette(palette_of(theme))
        self._app.setFont(text_font(max(1, round(BASE * size))))
        if self._zoom is not None and size != zoom():
            self._zoom.pause()
        # Replacing a style sheet, Qt styles each widget once for every widget around it.
        self._app.setStyleSheet("")
        self._app.setStyleSheet(stylesheet(theme, size))
        self._set_zoom(size)

    def _set_zoom(self, size: float) -> None:
        if self._zoom is None and size != 1.0:
            from app.kit.look.zoom import Zoom

            self._zoom = Zoom(self._app, self)
        if self._zoom is not None:
            self._zoom.set(size)
