"""The card of an error: its three sentences, with buttons for the remedies."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import in_full, translated
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from engines.errors import UserError


class ProblemCard(Panel):
    """The card of an error: what happened, why, and what to do.

    Args:
        error: The error.
        actions: The name, icon and text of each button.

    Signals:
        acted(name): The user pressed a button.
    """

    acted = Signal(str)

    def __init__(
        self,
        error: UserError,
        actions: Sequence[tuple[str, str, str]] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("danger", "problemCard", across=True, spacing=1.5, parent=parent)
        self.setAccessibleName(in_full(error))
        self.box.addWidget(Picture("warning", "danger"), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        texts.addWidget(
            Label(translated(error.what), "strong", name="problemWhat", wrap=True, selectable=True)
        )
        texts.addWidget(Label(translated(error.why), name="problemWhy", wrap=True, selectable=True))
        texts.addWidget(Label(translated(error.do), name="problemDo", wrap=True, selectable=True))
        if actions:
            row = QHBoxLayout()
            row.setContentsMargins(0, 6, 0, 0)
            row.setSpacing(GRID)
            for name, drawing, text in actions:
                button = LabelledButton(drawing, text, name)
                button.clicked.connect(lambda _=False, pressed=name: self.acted.emit(pressed))
                row.addWidget(button)
            row.addStretch(1)
            texts.addLayout(row)
        self.box.addLayout(texts, 1)
