"""A card that floats beside a widget until the user does something else."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.kit.focus_in_sight import scroll_to_focus
from app.kit.look.scale import FITS_ITSELF, scaled
from app.kit.look.theme import BAR, GRID, RADIUS
from app.kit.widgets.enter import press_focused
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.rounded import round_corners


class Popover(QWidget):
    """A card that closes, and is deleted, on Escape or a click elsewhere.

    `card` is the panel for the content.
    """

    def __init__(self, name: str, title: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setWindowTitle(title)
        round_corners(self, RADIUS + 2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        self.card = Panel("card", f"{name}Card", margins=(2.5, 2, 2.5, 2), spacing=1)
        self._area = QScrollArea()
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(self.card)
        layout.addWidget(self._area)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Move the focus for Tab, and scroll to it."""
        moved = super().focusNextPrevChild(forward)
        scroll_to_focus(self)
        return moved

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button on Enter."""
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def open_at(self, anchor: QWidget, *, above: bool = False) -> None:
        """Show the card below a widget, or above it if `above` is set or there is no room below."""
        room = anchor.screen().availableGeometry()
        self.polish()
        whole = self.card.sizeHint()
        size = whole.boundedTo(room.size() - QSize(2 * GRID, 2 * GRID))
        bar = scaled(BAR) if size.height() < whole.height() else 0
        self.resize(size.width() + bar, size.height())
        below = anchor.mapToGlobal(QPoint(0, anchor.height() + GRID // 2))
        window = anchor.window()
        edge = window.mapToGlobal(window.rect().bottomRight()).x()
        right = min(room.right(), max(edge, room.left() + self.width() + 2 * GRID))
        x = max(room.left() + GRID, min(below.x(), right - self.width() - GRID))
        y = below.y()
        if above or y + self.height() > room.bottom() - GRID:
            y = max(room.top() + GRID, below.y() - anchor.height() - self.height() - GRID)
        self.move(x, y)
        self.show()

    def polish(self) -> None:
        """Apply the zoom to all parts, so that their sizes are right before they are shown."""
        for part in (self, *self.findChildren(QWidget)):
            part.ensurePolished()


def fit_words(label: Label, width: int) -> None:
    """Give a label that wraps a width and the height that it needs for that width.

    Args:
        label: The label.
        width: The width in pixels at a zoom of 1.0.
    """
    label.setProperty(FITS_ITSELF, True)
    label.ensurePolished()
    label.setFixedWidth(scaled(width))
    label.setMinimumHeight(label.heightForWidth(scaled(width)))
