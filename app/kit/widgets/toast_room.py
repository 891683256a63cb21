"""A part of a layout in which toasts appear."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget


class ToastRoom(QWidget):
    """A part of a layout that becomes as high as the toasts, so that they cover nothing.

    Signals:
        grown(pixels): It will be higher by this much; negative if it shrinks.
    """

    grown = Signal(int)

    def __init__(
        self,
        edge: Literal["top", "bottom"],
        suits: Callable[[int], bool] = lambda _: True,
        parent: QWidget | None = None,
    ) -> None:
        """Create the room, without a height.

        Args:
            edge: The edge that stays in place when the height changes.
            suits: Returns whether toasts of this height in pixels should be here.
        """
        super().__init__(parent)
        self.setObjectName("toastRoom")
        self.edge = edge
        self.suits = suits
        self.setFixedHeight(0)

    @property
    def largest_height(self) -> int:
        """The height in pixels for which the widgets around it can make room."""
        around = self.parentWidget()
        layout = around.layout() if around is not None else None
        if around is None or layout is None:
            return self.height()
        return around.height() - layout.minimumSize().height() + self.maximumHeight()

    def make(self, height: int) -> None:
        """Become this high, in pixels."""
        pixels = height - self.maximumHeight()
        if pixels:
            self.setFixedHeight(height)
            self.grown.emit(pixels)
