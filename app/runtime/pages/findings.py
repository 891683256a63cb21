"""The findings of the check before an installation, one row each, with what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.theme import Tone
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.picture import Picture

if TYPE_CHECKING:
    from app.runtime.values.installation import Check


class Findings(QWidget):
    """The list of findings, in the order of the check."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("engineFindings")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(10)

    def show_check(self, check: Check) -> None:
        empty(self._column)
        for number, finding in enumerate(check.findings, start=1):
            drawing, tone, said = self._sign(finding.ok, finding.warning)
            texts = [finding.what] if finding.ok else [finding.what, finding.why, finding.do]
            self._column.addWidget(_row(number, drawing, tone, said, texts))

    def _sign(self, ok: bool, warning: bool) -> tuple[str, Tone, str]:
        """Return the icon, its colour, and a word with the same meaning."""
        if ok:
            return "check", "good", self.tr("OK")
        if warning:
            return "info", "warn", self.tr("Note")
        return "warning", "danger", self.tr("Problem")


def _row(number: int, drawing: str, tone: Tone, said: str, texts: Sequence[str]) -> QWidget:
    row = QWidget()
    row.setObjectName(f"finding{number}")
    across = QHBoxLayout(row)
    across.setContentsMargins(0, 0, 0, 0)
    across.setSpacing(12)
    across.addWidget(Picture(drawing, tone, 18), 0, Qt.AlignmentFlag.AlignTop)
    column = QVBoxLayout()
    column.setSpacing(2)
    words = [translated(text) for text in texts if text]
    row.setAccessibleName(f"{said}: {' '.join(words)}")
    for place, text in enumerate(words):
        look = "" if place == 0 and len(words) == 1 else ("strong" if place == 0 else "small")
        column.addWidget(Label(text, look, wrap=True, selectable=True))
    across.addLayout(column, 1)
    return row
