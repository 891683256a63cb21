"""The frame of an engine's card: its name, its status, and a sentence about it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.kit.look.theme import GRID, Tone
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture


class EngineCard(Panel):
    """A card for one engine; `body` is the layout for its own widgets."""

    def __init__(
        self, name: str, drawing: str, title: str, about: str, parent: QWidget | None = None
    ) -> None:
        super().__init__("card", name, margins=(2.5, 2, 2.5, 2), spacing=1.5, parent=parent)
        self.setAccessibleName(title)
        row = QHBoxLayout()
        row.setSpacing(12)
        tone: Tone = "accent_text"
        row.addWidget(Picture(drawing, tone, 26), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(title, "title"))
        texts.addWidget(Label(about, "small", name=f"{name}About", wrap=True))
        row.addLayout(texts, 1)
        self._status = Label("", "badge", name=f"{name}Status")
        self._status.hide()
        row.addWidget(self._status, 0, Qt.AlignmentFlag.AlignTop)
        self.box.addLayout(row)
        self.body = QVBoxLayout()
        self.body.setSpacing(round(1.5 * GRID))
        self.box.addLayout(self.body)

    def show_status(self, words: str, *, good: bool = False) -> None:
        """Show a badge of one or two words on the right; "" hides it."""
        self._status.show_text(words, "chosen" if good else "badge")
