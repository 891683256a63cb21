"""What to do where a repository asks for an account."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.models.hub import Gate
from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from app.ui.widgets.picture import Picture


class GateCard(Panel):
    """licence(): open the page on which its terms are accepted. token(): give a token."""

    licence = Signal()
    token = Signal()

    def __init__(self, gate: Gate, has_token: bool, parent: QWidget | None = None) -> None:
        super().__init__("banner", "gateCard", margins=(2.5, 2, 2.5, 2), spacing=1, parent=parent)
        title = QHBoxLayout()
        title.setSpacing(GRID)
        title.addWidget(Picture("lock", "accent_text"))
        title.addWidget(Label(self.tr("Its owner wants to know who gets it"), "strong"), 1)
        self.box.addLayout(title)
        consent = (
            self.tr("1.  Open its page, sign in, and accept the terms. Access is given at once.")
            if gate == "auto"
            else self.tr(
                "1.  Open its page, sign in, and ask for access. Somebody has to grant it, which "
                "may take days."
            )
        )
        second = (
            self.tr("2.  Your token is here already. Come back and press “Get”.")
            if has_token
            else self.tr("2.  Make a token in your account that may read, and enter it here.")
        )
        for text in (consent, second):
            self.box.addWidget(Label(text, wrap=True))
        row = QHBoxLayout()
        row.setSpacing(GRID)
        page = LabelledButton("browse", self.tr("Open its page"), "openLicence")
        page.clicked.connect(self.licence)
        words = self.tr("Another token…") if has_token else self.tr("Enter a token…")
        token = LabelledButton("key", words, "enterToken")
        token.clicked.connect(self.token)
        row.addWidget(page)
        row.addWidget(token)
        row.addStretch(1)
        self.box.addSpacing(4)
        self.box.addLayout(row)
