"""One repository among the results of a search."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.models.hub import Found
from app.ui.models.discover.words import ago, count, gate_word, parameters, split_name
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.label import Label
from app.ui.widgets.picture import Picture
from app.ui.widgets.row_button import RowButton


class ResultRow(RowButton):
    """Clicked, it opens the repository."""

    def __init__(self, found: Found, parent: QWidget | None = None) -> None:
        name, owner = split_name(found.id)
        facts = _facts(found)
        super().__init__(f"result-{found.id}", f"{name}, {', '.join((owner, *facts))}", parent)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(ElidedLabel(name, "strong"))
        texts.addWidget(ElidedLabel(" · ".join((owner, *facts)), "small"))
        self.box.addLayout(texts, 1)
        if found.gate != "open":
            self.box.addWidget(Picture("lock", "muted", 16))
            badge = Label(gate_word(found.gate), "badge", name="gateBadge")
            self.box.addWidget(badge, 0, Qt.AlignmentFlag.AlignVCenter)
        self.box.addWidget(Picture("forward", "muted", 16))
        self.let_clicks_through()


def _facts(found: Found) -> list[str]:
    facts = []
    if found.parameters:
        facts.append(parameters(found.parameters))
    facts.append(_tr("{0} downloads").format(count(found.downloads)))
    facts.append(found.licence or _tr("no licence given"))
    if found.updated is not None:
        facts.append(ago(found.updated))
    return facts


def _tr(text: str) -> str:
    return QCoreApplication.translate("discover", text)
