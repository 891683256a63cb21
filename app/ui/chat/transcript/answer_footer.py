"""Under an answer: what can be done with it, and how it came about."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QWidget

from app.core.chats.conversation import AnswerFacts, StoredMessage
from app.ui.look.format import figure, tokens
from app.ui.look.language import translated
from app.ui.widgets.elided_label import ElidedLabel
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.labelled_button import LabelledButton
from engines.types import MtpReport

_FIRST_TO_GO = ("editMessage", "rateBad", "rateGood", "againMenu", "showFacts", "copyAnswer")
"""What a narrow window does without; the menu has it as well."""
_CONTINUABLE = {"interrupted", "stopped", "failed"}


class AnswerFooter(QWidget):
    """act(name): what was asked for, by the names of `message_menu`; who owns the answer does it.

    last: it ends what is shown, and so can be continued.
    """

    act = Signal(str)

    def __init__(self, answer: StoredMessage, *, last: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("answerFooter")
        self._buttons: dict[str, IconButton] = {}
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(2)
        if last and answer.state in _CONTINUABLE:
            go_on = LabelledButton("continue", self.tr("Continue"), "continueAnswer")
            go_on.clicked.connect(lambda: self.act.emit("go_on"))
            self._row.addWidget(go_on)
        if answer.text:
            self._add("copy", self.tr("Copy answer"), "copyAnswer", "copy")
        self._add("again", self.tr("Answer again"), "regenerate", "regenerate")
        self._add("down", self.tr("Answer again in another way"), "againMenu", "again_menu", 14)
        if answer.text:
            self._rate("good", self.tr("Good answer"), "rateGood", answer.rating == 1)
            self._rate("bad", self.tr("Bad answer"), "rateBad", answer.rating == -1)
            self._add("pencil", self.tr("Edit this answer"), "editMessage", "edit")
        self._add("more", self.tr("More about this answer"), "moreActions", "menu")
        facts = answer.facts
        if facts is not None or answer.asked:
            self._add("info", self.tr("How this answer came about"), "showFacts", "facts")
        label = ElidedLabel("", "small", "answerFacts")
        self._row.addWidget(label, 1)
        self._fit(self.width())
        if facts is not None:
            label.setText(self._words(facts))
            if facts.mtp and facts.mtp.drafted:
                label.setToolTip(f"{label.text()}\n{translated(facts.mtp.reason)}")

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(event.size().width())

    def _fit(self, width: int) -> None:
        """Where there is no room for all, the menu has to do for some."""
        room = width - sum(
            it.sizeHint().width() + self._row.spacing()
            for it in self.findChildren(QAbstractButton)
            if it.objectName() not in _FIRST_TO_GO
        )
        for name in reversed(_FIRST_TO_GO):
            button = self._buttons.get(name)
            if button is not None:
                room -= button.sizeHint().width() + self._row.spacing()
                button.setVisible(room >= 0)

    def _add(self, drawing: str, text: str, name: str, act: str, size: int = 18) -> IconButton:
        button = IconButton(drawing, text, name, size=size)
        button.clicked.connect(lambda: self.act.emit(act))
        self._row.addWidget(button)
        self._buttons[name] = button
        return button

    def _rate(self, drawing: str, text: str, name: str, chosen: bool) -> None:
        button = self._add(drawing, text, name, drawing)
        button.setCheckable(True)
        button.setChecked(chosen)
        if chosen:
            button.redraw(drawing, "accent_text")
            button.rename(self.tr("{0}, chosen").format(text))

    def _words(self, facts: AnswerFacts) -> str:
        parts = [facts.model] if facts.model else []
        if facts.completion_tokens or not parts:
            parts.append(tokens(facts.completion_tokens))
        if facts.decode_tok_s:
            parts.append(self.tr("{0} tokens/s").format(figure(facts.decode_tok_s)))
        if facts.cached_tokens:
            parts.append(
                self.tr("{0} of {1} prompt tokens cached").format(
                    figure(facts.cached_tokens), figure(facts.prompt_tokens)
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
            parts.append(self.tr("{0}× of {1}×").format(figure(mtp.gain, 1), figure(most, 1)))
        elif mtp.gain is not None:
            parts.append(self.tr("{0}×").format(figure(mtp.gain, 1)))
        return self.tr("MTP {0}").format(", ".join(parts))
