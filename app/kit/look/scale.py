"""The zoom, as the application carries it: how large everything is drawn."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

FITS_ITSELF = "fitsItself"
"""The property of a widget that works its own size out from its text."""

_NAME = "hearthZoom"


def zoom() -> float:
    """1.0 is the usual size, also where there is no application."""
    app = QCoreApplication.instance()
    found = app.property(_NAME) if app is not None else None
    return float(found) if found else 1.0


def set_zoom(app: QCoreApplication, zoom: float) -> None:
    """Set the zoom for what is made or drawn from now on; `Zoom` handles the rest."""
    app.setProperty(_NAME, zoom)


def scaled(pixels: float) -> int:
    """A measure of the design as it is on the screen now; never less than one pixel."""
    return max(1, round(pixels * zoom()))
