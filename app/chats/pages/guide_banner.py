"""The banner that says that the built-in guide is tiny, with a button to get a real model."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import BAR, COLUMN, GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture

_NARROW = 480
"""The width in pixels below which the text and the button do not fit side by side."""


class GuideBanner(QWidget):
    """The banner that says that the built-in guide is tiny.

    Signals:
        get_model(): The user wants to get a real model.
    """

    get_model = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("guideBanner")
        across = QHBoxLayout(self)
        across.setContentsMargins(3 * GRID + BAR, GRID, 3 * GRID + BAR, GRID)
        across.addStretch(1)
        panel = Panel("banner", "guideBannerPanel", across=True, margins=(1.5, 1, 1, 1))
        panel.setMaximumWidth(COLUMN)
        self._text = text = Label("", wrap=True, name="guideBannerText")
        self.show_documents(False)
        text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        button = LabelledButton("box", self.tr("Get a real model"), "getModel", look="link")
        button.clicked.connect(self.get_model)
        self._picture = Picture("flame", "accent_text")
        self._box = panel.box
        panel.box.addWidget(self._picture)
        panel.box.addWidget(text, 1)
        panel.box.addWidget(button)
        across.addWidget(panel, 1000)
        across.addStretch(1)

    def show_documents(self, uses_documents: bool) -> None:
        """Set the text.

        Args:
            uses_documents: Whether the chat uses documents, which the guide cannot read.
        """
        if uses_documents:
            words = self.tr("The built-in guide only knows Hearth. It cannot read your documents.")
        else:
            words = self.tr(
                "You are talking to the built-in guide, a tiny model that only knows Hearth."
            )
        self._text.setText(words)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the button below the text in a narrow window."""
        super().resizeEvent(event)
        direction = QBoxLayout.Direction
        narrow = event.size().width() < scaled(_NARROW)
        self._picture.setHidden(narrow)
        self._box.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)
