"""A verb of the user's: an icon, a text, and the function that carries it out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QMenu

from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.labelled_button import LabelledButton


@dataclass(frozen=True)
class UserAction:
    """A verb of the user's, to be shown as a button or as an entry of a menu.

    Attributes:
        name: The object name.
        icon: The drawing; "" for none.
        text: The text; of an icon button its accessible name and tooltip.
        do: Called without arguments when the user chooses it.
    """

    name: str
    icon: str
    text: str
    do: Callable[[], object]

    def button(self, look: str = "", *, spoken: str = "") -> LabelledButton:
        """Return a button with the icon and the text.

        Args:
            look: The look in the style sheet.
            spoken: The accessible name; empty for the text.
        """
        button = LabelledButton(self.icon, self.text, self.name, look=look)
        button.setAutoDefault(False)  # a dialog has one main button, which it names itself
        button.clicked.connect(lambda: self.do())  # noqa: PLW0108 - a click has an argument
        if spoken:
            button.setAccessibleName(spoken)
        return button

    def icon_button(self, size: int = 20) -> IconButton:
        """Return a button with the icon alone.

        Args:
            size: The size of the icon in pixels.
        """
        button = IconButton(self.icon, self.text, self.name, size=size)
        button.clicked.connect(lambda: self.do())  # noqa: PLW0108 - a click has an argument
        return button

    def add_to(self, menu: QMenu) -> None:
        """Add an entry with the text to a menu."""
        entry = menu.addAction(self.text)
        entry.setObjectName(self.name)
        entry.triggered.connect(lambda: self.do())  # noqa: PLW0108 - a click has an argument
