"""The mark above a message that is pinned, or that the model no longer sees."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.kit.look.theme import Tone
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture

ContextMark = Literal["left", "summed", "pinned"]


class MessageMark(QWidget):
    """A small line with an icon, on the same side as the message."""

    def __init__(self, mark: ContextMark, *, right: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(f"mark-{mark}")
        self.mark = mark
        words = {
            "left": self.tr("Left out"),
            "summed": self.tr("Summarised"),
            "pinned": self.tr("Pinned"),
        }
        meaning = {
            "left": self.tr("The context is full: the model does not see this message."),
            "summed": self.tr("The model reads a summary in place of this message."),
            "pinned": self.tr("This message always stays in the context."),
        }
        drawing, tone = _LOOKS[mark]
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for widget in (Picture(drawing, tone, 14), Label(words[mark], "small", name="markText")):
            row.addWidget(widget)
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        row.setAlignment(side)
        self.setToolTip(meaning[mark])
        self.setAccessibleName(words[mark])
        self.setAccessibleDescription(meaning[mark])


_LOOKS: dict[ContextMark, tuple[str, Tone]] = {
    "left": ("partly", "muted"),
    "summed": ("fold", "muted"),
    "pinned": ("pinned", "accent_text"),
}
