"""The line under a message: its branches, and its actions while the pointer or focus is there."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QHBoxLayout, QWidget

from app.base.language import translated
from app.chats.history.values.conversation import AnswerFacts, StoredMessage
from app.chats.history.values.tree import Fork
from app.kit.look.format import figure, moment, tokens
from app.kit.look.scale import scaled
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from engines.types import MtpReport


class QuestionFooter(QWidget):
    """The actions of a question.

    Args:
        asked: When the question was asked, in seconds since 1970.

    Signals:
        act(name): The user wants an action; the names are those of `message_menu`.
    """

    act = Signal(str)

    def __init__(self, asked: float, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("questionFooter")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        when = Label(moment(asked), "small", name="askedAt")
        when.setContentsMargins(0, 0, 4, 0)
        row.addWidget(when)
        for drawing, text, name, act in (
            ("pencil", self.tr("Edit and ask again"), "editMessage", "edit"),
            ("copy", self.tr("Copy question"), "copyQuestion", "copy"),
            ("more", self.tr("More about this question"), "moreActions", "menu"),
        ):
            button = IconButton(drawing, text, name, size=18)
            button.clicked.connect(lambda _=False, act=act: self.act.emit(act))
            row.addWidget(button)


_HIDDEN_FIRST = ("editMessage", "rateBad", "rateGood", "againMenu", "showFacts", "copyAnswer")
"""The buttons that a narrow window hides, the first one first; the menu has them as well."""
_LEAST_TEXT_WIDTH = 120
"""Pixels to keep free for the model and its speed."""
_CONTINUABLE = {"interrupted", "stopped", "failed"}


class AnswerFooter(QWidget):
    """The actions of an answer, and its details in short.

    Args:
        answer: The answer.
        last: Whether it is the last message shown; only then can it be continued.

    Signals:
        act(name): The user wants an action; the names are those of `message_menu`. The owner of
            the answer carries it out.
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
            words = self.tr("Continue anyway") if answer.repeats else self.tr("Continue")
            go_on = LabelledButton("continue", words, "continueAnswer")
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
            self._add("info", self.tr("Answer details"), "showFacts", "facts")
        self._label = ElidedLabel("", "small", "answerFacts")
        self._row.addWidget(self._label, 1)
        if facts is not None:
            self._label.setText(self._words(facts))
            self._label.setToolTip("\n".join([*self._more_words(facts), moment(answer.created)]))
        self._fit(self.width())

    def minimumSizeHint(self) -> QSize:
        """Return width 0, as buttons are hidden if there is too little room."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many buttons as fit into the new width."""
        super().resizeEvent(event)
        self._fit(event.size().width())

    def _fit(self, width: int) -> None:
        """Hide buttons if there is too little room for all; the menu has them, too."""
        words = min(self._label.sizeHint().width(), scaled(_LEAST_TEXT_WIDTH))
        room = (
            width
            - words
            - sum(
                each.sizeHint().width() + self._row.spacing()
                for each in self.findChildren(QAbstractButton)
                if each.objectName() not in _HIDDEN_FIRST
            )
        )
        for name in reversed(_HIDDEN_FIRST):
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
            button.rename(self.tr("{text}, chosen").format(text=text))

    def _words(self, facts: AnswerFacts) -> str:
        parts = [translated(facts.model)] if facts.model else []
        if facts.decode_tok_s:
            parts.append(
                self.tr("{decode_tok_s} tokens/s").format(decode_tok_s=figure(facts.decode_tok_s))
            )
        return " · ".join(parts) or tokens(facts.completion_tokens, guessed=facts.guessed)

    def _more_words(self, facts: AnswerFacts) -> list[str]:
        """Return the lines of the tooltip."""
        parts = [self._words(facts)]
        if facts.completion_tokens:
            parts.append(tokens(facts.completion_tokens, guessed=facts.guessed))
        if facts.cached_tokens:
            parts.append(
                self.tr("{cached_tokens} of {prompt_tokens} prompt tokens cached").format(
                    cached_tokens=figure(facts.cached_tokens),
                    prompt_tokens=figure(facts.prompt_tokens),
                )
            )
        if facts.mtp and facts.mtp.drafted:
            parts += [self._mtp(facts.mtp), translated(facts.mtp.reason)]
        return parts

    def _mtp(self, mtp: MtpReport) -> str:
        """Return the gain of multi-token prediction in words, and the gain that was possible."""
        share = round(100 * mtp.accepted / mtp.drafted)
        parts = [self.tr("{depth} ahead").format(depth=mtp.depth)] if mtp.depth else []
        parts.append(self.tr("{share} % accepted").format(share=share))
        if mtp.gain is not None and mtp.bound is not None:
            bound = max(mtp.gain, mtp.bound)
            parts.append(
                self.tr("{gain}× of {most}×").format(
                    gain=figure(mtp.gain, 1), most=figure(bound, 1)
                )
            )
        elif mtp.gain is not None:
            parts.append(self.tr("{gain}×").format(gain=figure(mtp.gain, 1)))
        return self.tr("MTP {parts}").format(parts=", ".join(parts))


class BranchBar(QWidget):
    """The buttons that switch between branches.

    Signals:
        go(step): The user wants the previous (-1) or the next (1) branch.
    """

    go = Signal(int)

    def __init__(self, fork: Fork, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("branchBar")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        previous = IconButton("left", self.tr("Previous branch"), "branchBefore", size=18)
        previous.setEnabled(fork.at > 0)
        previous.clicked.connect(lambda: self.go.emit(-1))
        following = IconButton("forward", self.tr("Next branch"), "branchAfter", size=18)
        following.setEnabled(fork.at < len(fork.ids) - 1)
        following.clicked.connect(lambda: self.go.emit(1))
        place = Label(f"{fork.at + 1}/{len(fork.ids)}", "small", name="branchPlace")
        words = self.tr("Branch {at} of {count}").format(at=fork.at + 1, count=len(fork.ids))
        place.setAccessibleName(words)
        place.setToolTip(words)
        for widget in (previous, place, following):
            row.addWidget(widget)


_HEIGHT = 32
"""Pixels kept free under every message, so that nothing moves when its actions appear."""
_GAP = 6
"""Pixels between the footer of an answer and the next question."""


class MessageFooter(QWidget):
    """The line under a message.

    The buttons exist only on the last answer, and while the pointer or the keyboard focus is on
    the message; otherwise a long chat would have hundreds of them.

    Args:
        message: The message.
        text: The widget that shows the message.

    Signals:
        act(name): The user wants an action; the names are those of `message_menu`.
        go(step): The user wants the previous (-1) or the next (1) branch.
    """

    act = Signal(str)
    go = Signal(int)

    def __init__(
        self, message: StoredMessage, text: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._text = text
        self._message = message
        self._active = False
        self._last = False
        self._bar: BranchBar | None = None
        self._footer: AnswerFooter | QuestionFooter | None = None
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(4)
        self._is_question = message.role == "user"
        if self._is_question:
            self._row.addStretch(1)
        else:
            self._row.setContentsMargins(0, 0, 0, _GAP)

    def sizeHint(self) -> QSize:
        """Return the size, with the height that is always kept free."""
        return super().sizeHint().expandedTo(self.minimumSizeHint())

    def minimumSizeHint(self) -> QSize:
        """Return width 0, and the height that is always kept free."""
        gap = 0 if self._is_question else _GAP
        return QSize(0, max(_HEIGHT + gap, super().minimumSizeHint().height()))

    def show_message(self, message: StoredMessage) -> None:
        """Show a message whose state or rating has changed."""
        self._message = message
        self._rebuild()

    def set_last(self, last: bool) -> None:
        """Set whether this is the last message; the actions of a last answer stay visible."""
        if last != self._last:
            self._last = last
            self._rebuild()

    def set_active(self, active: bool) -> None:
        """Set whether the pointer or the focus is on the message."""
        if active != self._active:
            self._active = active
            if self._has_footer != self._shows:
                self._rebuild()

    def show_fork(self, fork: Fork | None) -> None:
        """Show the branches at this message; None if there are no others."""
        if self._bar is not None:
            self._bar.hide()
            self._bar.deleteLater()
            self._bar = None
        if fork is not None:
            self._bar = BranchBar(fork)
            self._bar.go.connect(self.go)
            place = self._row.count() if self._is_question else 0
            self._row.insertWidget(place, self._bar, 0, Qt.AlignmentFlag.AlignLeft)
            self._bar.show()
            self._order()

    @property
    def _has_footer(self) -> bool:
        return self._footer is not None

    @property
    def _shows(self) -> bool:
        message = self._message
        if self._is_question:
            return self._active
        # A failed answer without text has a card with its own button.
        ended = message.state != "streaming" and (message.text or message.state != "failed")
        return bool(ended) and (self._active or self._last)

    def _rebuild(self) -> None:
        old, self._footer = self._footer, None
        focused = QApplication.focusWidget()
        focused_name = ""
        if old is not None:
            if focused is not None and old.isAncestorOf(focused):
                focused_name = focused.objectName()
                self._text.setFocus()
            old.hide()
            old.deleteLater()
        if self._shows and self._footer is None:
            footer = self._make_footer()
            button = footer.findChild(QWidget, focused_name) if focused_name else None
            if isinstance(button, QWidget):
                button.setFocus()

    def _make_footer(self) -> QWidget:
        if self._is_question:
            self._footer = QuestionFooter(self._message.created)
            place = 1
        else:
            self._footer = AnswerFooter(self._message, last=self._last)
            place = 0 if self._bar is None else 1
        self._footer.act.connect(self.act)
        self._row.insertWidget(place, self._footer, 0 if self._is_question else 1)
        self._footer.show()
        self._order()
        return self._footer

    def _order(self) -> None:
        """Set the order of the Tab key: first the message's text, then this line from the left."""
        last_stop = self._text
        # Not read from the layout: Python would keep its items longer than the layout, and crash.
        parts = (self._footer, self._bar) if self._is_question else (self._bar, self._footer)
        for part in parts:
            for button in part.findChildren(QAbstractButton) if part is not None else ():
                QWidget.setTabOrder(last_stop, button)
                last_stop = button
