"""The badge in the window's header while other computers can use the models."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from app.kit.widgets.labelled_button import LabelledButton


class ExposedBadge(LabelledButton):
    """A button that opens the place where the user can end this.

    It has no text if there is little room.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("warning", "", "exposedBadge", look="quiet", tone="warn", parent=parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setIconSize(QSize(16, 16))
        self._words = self.tr("Open to the network")
        self.set_short(short=False)

    def show_state(self, *, encrypted: bool) -> None:
        """Show in the tooltip whether the connections are encrypted."""
        tip = (
            self.tr("Other computers can use your models, encrypted, with a key.")
            if encrypted
            else self.tr(
                "Other computers can use your models, with a key. Nothing is encrypted: others on "
                "the network can read along."
            )
        )
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)

    def set_short(self, *, short: bool) -> None:
        """Set whether to hide the text."""
        self.setText("" if short else self._words)
        self.setAccessibleName(self._words)
