"""Under the last answer: what can be done with it, and how it came about."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.conversation import AnswerFacts, StoredMessage
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.labelled_button import LabelledButton
from engines.types import MtpReport

_CONTINUABLE = {"interrupted", "stopped", "failed"}


class AnswerFooter(QWidget):
    """Signals say what was asked for; who owns the answer does it."""

    copy = Signal()
    regenerate = Signal()
    go_on = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("answerFooter")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        self._go_on = LabelledButton("continue", self.tr("Continue"), "continueAnswer")
        self._go_on.clicked.connect(self.go_on)
        self._copy = IconButton("copy", self.tr("Copy answer"), "copyAnswer", size=18)
        self._copy.clicked.connect(self.copy)
        again = IconButton("again", self.tr("Answer again"), "regenerate", size=18)
        again.clicked.connect(self.regenerate)
        self._facts = ElidedLabel("", "small", "answerFacts")
        for widget in (self._go_on, self._copy, again):
            row.addWidget(widget)
        row.addSpacing(8)
        row.addWidget(self._facts, 1)

    def show_for(self, answer: StoredMessage) -> None:
        self._go_on.setVisible(answer.state in _CONTINUABLE)
        self._copy.setVisible(bool(answer.text))
        facts = answer.facts
        self._facts.setText(self._words(facts) if facts else "")
        if facts and facts.mtp and facts.mtp.drafted:
            self._facts.setToolTip(f"{self._facts.text()}\n{facts.mtp.reason}")

    def _words(self, facts: AnswerFacts) -> str:
        parts = [facts.model] if facts.model else []
        parts.append(self.tr("{0} tokens").format(f"{facts.completion_tokens:,}"))
        if facts.decode_tok_s:
            parts.append(self.tr("{0} tokens/s").format(f"{facts.decode_tok_s:,.0f}"))
        if facts.cached_tokens:
            parts.append(
                self.tr("{0} of {1} prompt tokens cached").format(
                    f"{facts.cached_tokens:,}", f"{facts.prompt_tokens:,}"
                )
            )
        if facts.mtp and facts.mtp.drafted:
            parts.append(self._mtp(facts.mtp))
        return " · ".join(parts)

    def _mtp(self, mtp: MtpReport) -> str:
        """What guessing ahead has brought, with the most that it could have."""
        share = round(100 * mtp.accepted / mtp.drafted)
        parts = [self.tr("{0} ahead").format(mtp.depth)] if mtp.depth else []
        parts.append(self.tr("{0} % accepted").format(share))
        if mtp.gain is not None and mtp.bound is not None:
            most = max(mtp.gain, mtp.bound)
            parts.append(self.tr("{0}× of {1}×").format(f"{mtp.gain:.1f}", f"{most:.1f}"))
        elif mtp.gain is not None:
            parts.append(self.tr("{0}×").format(f"{mtp.gain:.1f}"))
        return self.tr("MTP {0}").format(", ".join(parts))
