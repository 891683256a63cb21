"""Faster answers by multi-token prediction: the chip with the gain, and the card of the switch."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.menu_button import MenuButton
from app.kit.widgets.popover import Popover, fit_words
from app.kit.widgets.segments import Segments
from app.models.library.pages.names import mtp_explanation, mtp_tip
from engines.types import MtpMode

_WIDTH = 340
"""The width of the card's sentences in pixels."""


class MtpPopover(Popover):
    """The card with the switch for multi-token prediction.

    Signals:
        chosen(mode): The user chose a mode.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__("mtpCard", self.tr("Faster answers"), parent)
        tip = mtp_explanation()
        self._switch = Segments(
            "mtp",
            self.windowTitle(),
            (
                ("off", self.tr("Off"), self.tr("Faster answers off")),
                ("auto", self.tr("Auto"), self.tr("Faster answers automatic")),
                ("on", self.tr("On"), self.tr("Faster answers on")),
            ),
        )
        self._switch.setAccessibleDescription(tip)
        self._switch.chosen.connect(self.chosen)
        self._line = Label("", name="mtpLine", wrap=True, selectable=True)
        explanation = Label(tip, "small", name="mtpWhat", wrap=True)
        fit_words(explanation, _WIDTH)
        box = self.card.box
        box.addWidget(Label(self.windowTitle(), "strong", name="mtpTitle"))
        box.addWidget(explanation)
        row = QHBoxLayout()
        row.setContentsMargins(0, GRID // 2, 0, GRID // 2)
        row.addWidget(self._switch)
        box.addLayout(row)
        box.addWidget(self._line)

    def show_state(self, mode: MtpMode, sentence: str, *, can_switch: bool) -> None:
        """Show the mode and the sentence; disable the switch if the user cannot use it."""
        self._switch.show_choice(mode)
        self._switch.setEnabled(can_switch)
        if sentence != self._line.text():
            self._line.setText(sentence)
            fit_words(self._line, _WIDTH)
            self._line.setVisible(bool(sentence))
            self.adjustSize()

    def focus_switch(self) -> None:
        """Focus the switch."""
        self._switch.setFocus(Qt.FocusReason.PopupFocusReason)


class MtpChip(MenuButton):
    """The chip with the gain in speed, hidden without one; it opens the card.

    Signals:
        chosen(mode): The user chose a mode on the card.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("mtpChip", "chip", parent)
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._mode: MtpMode = "auto"
        self._sentence = ""
        self._can_switch = True
        self._card: MtpPopover | None = None
        self.hide()
        self.clicked.connect(lambda: self.open_card(self))

    @property
    def mode(self) -> MtpMode:
        """The mode of the next message, as the chip shows it."""
        return self._mode

    @property
    def sentence(self) -> str:
        """The sentence on the card."""
        return self._sentence

    def show_state(self, mode: MtpMode, word: str, sentence: str, *, can_switch: bool) -> None:
        """Show the state of multi-token prediction.

        Args:
            mode: The mode of the next message.
            word: The gain in speed; "" hides the chip.
            sentence: The sentence on the card.
            can_switch: Whether the user can choose another mode.
        """
        self._mode, self._sentence, self._can_switch = mode, sentence, can_switch
        if word != self.text():
            self.setText(word)
        self.setVisible(bool(word))
        self.setAccessibleName(self.tr("Faster answers: {word}").format(word=word))
        self.setAccessibleDescription(sentence)
        self.setToolTip(mtp_tip(sentence))
        if self._card is not None:
            self._card.show_state(mode, sentence, can_switch=can_switch)

    def fill(self, menu: QMenu) -> None:
        """Add an entry that opens the card to a menu."""
        if self._mode == "off":
            words = self.tr("Faster answers (off)…")
        else:
            words = self.tr("Faster answers…")
        action = menu.addAction(words)
        action.setObjectName("openMtp")
        action.triggered.connect(lambda: self.open_card(menu.parentWidget() or self))

    def open_card(self, anchor: QWidget) -> None:
        """Open the card above a widget."""
        self._card = MtpPopover(self.window())
        self._card.destroyed.connect(self._forget_card)
        self._card.chosen.connect(self.chosen)
        self._card.show_state(self._mode, self._sentence, can_switch=self._can_switch)
        self._card.open_at(anchor, above=True)
        self._card.focus_switch()

    def close_card(self) -> None:
        """Close the card if it is open."""
        if self._card is not None:
            self._card.close()

    def _forget_card(self) -> None:
        self._card = None
