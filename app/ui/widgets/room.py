"""Room for what is shown beside something else."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget


def grow_for(part: QWidget) -> None:
    """Make the window as wide as a part and those beside it need; it never becomes narrower.

    One that cannot be seen keeps the size it was given: its parts may have none yet.
    """
    window, all_parts = part.window(), part.parentWidget()
    if not window.isVisible():
        return
    missing = all_parts.minimumSizeHint().width() - all_parts.width() if all_parts else 0
    if missing > 0:
        window.resize(window.width() + missing, window.height())
