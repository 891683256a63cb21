"""A menu with round corners, as the other cards have them."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu, QWidget

from app.kit.widgets.rounded import round_corners


class Menu(QMenu):
    """A menu with round corners."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        round_corners(self)
