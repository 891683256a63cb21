"""One model in the list: its name, where its file is, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.core.models import ModelEntry
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture


class ModelRow(Panel):
    use = Signal(str)
    remove = Signal(str)

    def __init__(self, entry: ModelEntry, in_use: bool, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", f"model-{entry.id}", across=True, margins=(2, 1.5, 1.5, 1.5), parent=parent
        )
        self.box.setSpacing(12)
        self.box.addWidget(
            Picture("flame" if entry.builtin else "box", "accent_text" if in_use else "muted")
        )
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(ElidedLabel(entry.name, "strong"))
        if entry.builtin:
            where = self.tr("Built in. Knows Hearth and nothing else.")
        else:
            where = str(entry.path)
        texts.addWidget(ElidedLabel(where, "small"))
        self.box.addLayout(texts, 1)
        if in_use:
            self.box.addWidget(Label(self.tr("In use"), "badge"))
        else:
            use = QPushButton(self.tr("Use"))
            use.setObjectName(f"use-{entry.id}")
            use.setAccessibleName(self.tr("Use {0}").format(entry.name))
            use.clicked.connect(lambda: self.use.emit(entry.id))
            self.box.addWidget(use)
        if not entry.builtin:
            name = self.tr("Remove {0} from the list").format(entry.name)
            remove = IconButton("trash", name, f"remove-{entry.id}", size=18)
            remove.clicked.connect(lambda: self.remove.emit(entry.id))
            self.box.addWidget(remove)
