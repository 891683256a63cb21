"""What all models take on the disk, as a sentence and a bar."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.core.models.overview import Overview
from app.ui.look.format import size
from app.ui.models.names import name_of
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel
from app.ui.widgets.share_bar import Part, ShareBar, limited


class DiskCard(Panel):
    """Hidden until there is something to show."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("card", "diskCard", margins=(2, 1.5, 2, 1.5), spacing=1, parent=parent)
        self._sentence = Label("", "strong", name="diskUse", wrap=True)
        self.box.addWidget(self._sentence)
        self._bar: ShareBar | None = None
        self.hide()

    def show_use(self, overview: Overview) -> None:
        count = len(overview.models)
        text = self.tr("{0} models take {1} of the disk; {2} are free.")
        if count == 1:
            text = self.tr("One model takes {1} of the disk; {2} are free.")
        self._sentence.setText(text.format(count, size(overview.total), size(overview.free)))
        if self._bar is not None:
            self._bar.hide()
            self._bar.deleteLater()
        parts = [
            Part(f"{name_of(entry)} {size(taken)}", taken)
            for entry in overview.models
            if (taken := overview.sizes.get(entry.id, 0))
        ]
        self._bar = ShareBar(
            "diskBar",
            self.tr("Disk use of the models"),
            limited(parts, self.tr("{0} others")),
        )
        self.box.addWidget(self._bar)
        self.show()
