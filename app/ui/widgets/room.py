"""Room for what is shown beside something else."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def grow_for(parts: QWidget) -> None:
    """Make the window as wide as these parts need it; one that is wide enough stays as it is."""
    window = parts.window()
    missing = parts.minimumSizeHint().width() - parts.width()
    if missing > 0:
        window.resize(window.width() + missing, window.height())
