"""A text on the page, in one of the looks of the style sheet."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget


class Label(QLabel):
    """A label that always shows plain text, so that Qt never reads a text as markup."""

    def __init__(
        self,
        text: str = "",
        look: str = "",
        *,
        name: str = "",
        wrap: bool = False,
        selectable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("look", look)
        self.setObjectName(name)
        self.setWordWrap(wrap)
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)

    def show_text(self, text: str, look: str | None = None) -> None:
        """Show a text, or hide the label if it is empty.

        Args:
            text: The text.
            look: Another look for it; None to keep the look.
        """
        if look is not None and look != self.property("look"):
            self.setProperty("look", look)
            self.style().unpolish(self)
            self.style().polish(self)
        self.setText(text)
        self.setVisible(bool(text))
