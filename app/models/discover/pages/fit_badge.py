"""A badge that shows whether a model fits, with an icon and a colour."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.models.discover.pages.words import fits_look, fits_sentence, fits_word
from app.models.library.values.memory_use import Fits


class FitBadge(Panel):
    """A badge that shows whether a model fits."""

    def __init__(self, fits: Fits, parent: QWidget | None = None) -> None:
        super().__init__(
            "plain", "fitBadge", across=True, margins=(0, 0, 0, 0), spacing=0.5, parent=parent
        )
        drawing, tone = fits_look(fits)
        self.box.addWidget(Picture(drawing, tone, 16))
        self.box.addWidget(
            Label(fits_word(fits), "bad" if tone == "danger" else tone, name="fitWord")
        )
        self.setToolTip(fits_sentence(fits))
        self.setAccessibleName(fits_sentence(fits))
