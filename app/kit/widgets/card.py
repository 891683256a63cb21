"""Cards, notices, and the card of a page on which there is nothing yet."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from app.kit.widgets.label import Label
from app.kit.widgets.layouts import Part
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture


class ItemCard(Panel):
    """A card with something of the user's, its parts beside each other.

    Args:
        name: The object name.
        parts: The parts, as for `row`.
        spoken: The accessible name.
        opens: Called when the user clicks anywhere on the card beside its buttons.
        across: Whether the parts are beside each other, not below.
        margins, spacing: As for `Panel`.
    """

    def __init__(
        self,
        name: str,
        *parts: Part,
        spoken: str = "",
        opens: Callable[[], object] | None = None,
        across: bool = True,
        margins: tuple[float, float, float, float] = (2, 1.5, 2, 1.5),
        spacing: float = 1.5,
    ) -> None:
        super().__init__("card", name, *parts, across=across, margins=margins, spacing=spacing)
        self.setAccessibleName(spoken)
        self._opens = opens
        if opens is not None:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Open the item on a click with the left button."""
        if self._opens is None:
            super().mouseReleaseEvent(event)
            return
        inside = self.rect().contains(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and inside:
            self._opens()


class Notice(Panel):
    """A coloured strip with a picture, a sentence, and buttons for the remedies.

    Args:
        name: The object name; that of the sentence ends in “Text”.
        icon: The picture.
        text: The sentence.
        buttons: The buttons.
        look: The look of the sentence.
        margins: As for `Panel`.
    """

    def __init__(
        self,
        name: str,
        icon: str,
        text: str,
        *buttons: QWidget,
        look: str = "",
        margins: tuple[float, float, float, float] = (2, 1.25, 1.25, 1.25),
    ) -> None:
        words = Label(text, look, name=f"{name}Text", wrap=True)
        super().__init__(
            "banner", name, Picture(icon, "accent_text"), (words, 1), *buttons,
            across=True, margins=margins, spacing=1.5,
        )  # fmt: skip


def empty_card(name: str, icon: str, title: str, words: str, *parts: Part) -> Panel:
    """Return the card of a page on which there is nothing yet, which explains the page.

    Args:
        name: The object name; that of the words ends in “Words”.
        icon: The picture.
        title: The purpose of the page.
        words: An explanation.
        parts: The buttons to begin with, and other parts below the words.
    """
    return Panel(
        "card", name, Picture(icon, "accent_text", 32), Label(title, "title", wrap=True),
        Label(words, name=f"{name}Words", wrap=True), *parts, margins=(3, 3, 3, 3), spacing=1.5,
    )  # fmt: skip


def drop_hint(name: str, icon: str, words: str) -> Notice:
    """Return the notice about dropping files here; it is hidden until files are dragged over it.

    Args:
        name: The object name.
        icon: The picture.
        words: The sentence.
    """
    hint = Notice(name, icon, words, look="strong", margins=(2, 2, 2, 2))
    hint.hide()
    return hint
