"""Takes everything out of a layout."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout


def empty(layout: QLayout) -> None:
    """Widgets in it vanish at once and are deleted later; layouts in it are emptied as well."""
    while (taken := layout.takeAt(0)) is not None:
        widget, inner = taken.widget(), taken.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            empty(inner)
