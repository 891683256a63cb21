"""The passages that a search found, best first, each with its file and place."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.documents.collections.pages.words import passage_place
from app.documents.collections.values import FoundPassage
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel

_SHOWN = 400
"""Maximum characters of a passage; the viewer shows all of it."""


class PassageCard(Panel):
    """The card of one passage; a click anywhere opens it.

    Signals:
        opened(): The user wants to see the passage on its page.
    """

    opened = Signal()

    def __init__(self, number: int, found: FoundPassage, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", f"passage{number}", margins=(2, 1.25, 1.25, 1.5), spacing=0.5, parent=parent
        )
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        where = passage_place(found.file, found.place)
        text = shortened(found.text)
        self.setAccessibleName(f"{where}: {text}")
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(ElidedLabel(where, "strong", "passagePlace"), 1)
        button = IconButton(
            "forward",
            self.tr("Show the place: {where}").format(where=where),
            f"openPassage{number}",
            size=16,
        )
        button.clicked.connect(self.opened)
        head.addWidget(button)
        self.box.addLayout(head)
        self.box.addWidget(Label(text, "muted", name="passageText", wrap=True))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and inside:
            self.opened.emit()


class PassageList(QWidget):
    """The list of passages.

    Signals:
        opened(FoundPassage): The user wants to see a passage on its page.
    """

    opened = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("passages")
        self._first: QWidget | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID)

    @property
    def first(self) -> QWidget | None:
        """The card of the best passage; None if nothing was found."""
        return self._first

    def show_found(self, found: Sequence[FoundPassage], words: str) -> None:
        empty(self._column)
        self._first = None
        if not found:
            said = self.tr("No passage suits “{words}”. Try other words.").format(words=words)
            self._column.addWidget(Label(said, "muted", name="noPassage", wrap=True))
        for number, it in enumerate(found, start=1):
            card = PassageCard(number, it)
            card.opened.connect(lambda found=it: self.opened.emit(found))
            self._column.addWidget(card)
            self._first = self._first or card


def shortened(text: str) -> str:
    """Return the beginning of a passage on one line, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= _SHOWN:
        return line
    return line[:_SHOWN].rsplit(" ", 1)[0] + "…"
