"""The zoom, stored in the application: how large everything is drawn."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

FITS_ITSELF = "fitsItself"
"""The property of a widget that computes its size from its text."""

_NAME = "hearthZoom"


def zoom() -> float:
    """Return the zoom; 1.0 is the usual size, and the value without an application."""
    app = QCoreApplication.instance()
    found = app.property(_NAME) if app is not None else None
    return float(found) if found else 1.0


def set_zoom(app: QCoreApplication, zoom: float) -> None:
    """Set the zoom for all that is created or drawn from now on; `Zoom` handles the rest."""
    app.setProperty(_NAME, zoom)


def scaled(pixels: float) -> int:
    """Return a size of the design at the current zoom, in pixels; at least 1."""
    return max(1, round(pixels * zoom()))
