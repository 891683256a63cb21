"""The model picker: the list that opens under the button with the model's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.engine_names import engine_name
from app.kit.look.format import size
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.emptying import empty
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.popover import Popover
from app.models.library.pages.model_list import ModelList

if TYPE_CHECKING:
    from app.models.discover.values.counterparts import Counterpart
    from app.models.library.values.entry import ModelEntry

_WIDTH: Final = 480
_HEIGHT: Final = 420

PickerButton = tuple[str, str, str, Callable[[], object]]
"""A button below the list: its object name, icon, text and action."""


class ModelPicker(Popover):
    """The list of models under the button.

    Args:
        buttons: The buttons below the list.
        loads: Whether models can also be loaded and ejected here.

    Signals:
        chosen: The id of the chosen model.
        for_new: The user wants new chats to use the current model.
        other_engine: A Counterpart: the user wants the same model on another engine.
        closed: The picker has closed.
    """

    chosen = Signal(str)
    for_new = Signal()
    other_engine = Signal(object)
    closed = Signal()

    def __init__(
        self, buttons: Sequence[PickerButton], parent: QWidget, *, loads: bool = True
    ) -> None:
        super().__init__("modelPicker", "", parent)
        self.setAccessibleName(self.tr("Models"))
        self.setAttribute(Qt.WidgetAttribute.WA_NoMouseReplay)  # a click on the button closes it
        self.list = ModelList(loads=loads)
        self.list.chosen.connect(self.chosen)
        self.card.box.setContentsMargins(12, 12, 12, 12)
        self.card.box.setSpacing(GRID)
        self.card.box.addWidget(self.list, 1)
        self._counterparts = QVBoxLayout()
        self._counterparts.setSpacing(2)
        self.card.box.addLayout(self._counterparts)
        self._usual = QWidget()
        usual = QHBoxLayout(self._usual)
        usual.setContentsMargins(GRID // 2, 0, 0, 0)
        self._usual_words = Label("", "small", name="usualModel", wrap=True)
        usual.addWidget(self._usual_words, 1)
        self._for_new = LabelledButton(
            "check", self.tr("Use for new chats too"), "useForNew", look="link"
        )
        self._for_new.clicked.connect(self.for_new)
        usual.addWidget(self._for_new)
        self._usual.hide()
        self.card.box.addWidget(self._usual)
        if buttons:
            self.card.box.addWidget(FlowRow(*(self._make_button(button) for button in buttons)))

    def show_usual(self, name: str, *, same: bool) -> None:
        """Show which model new chats use.

        Args:
            same: Whether it is the model in use here.
        """
        words = self.tr("For this chat only. New chats use {name}.").format(name=name)
        self._usual_words.setText(self.tr("New chats use it too.") if same else words)
        self._for_new.setHidden(same)
        self._usual.show()

    def show_counterparts(self, counterparts: Sequence[Counterpart]) -> None:
        """Offer the same model on other engines, each with its cost or why it is unsuitable."""
        empty(self._counterparts)
        for counterpart in counterparts:
            self._counterparts.addWidget(self._counterpart(counterpart))

    def open_under(self, button: QWidget) -> None:
        """Open the picker below its button, no larger than the window allows."""
        window = button.window()
        self.polish()
        width = min(scaled(_WIDTH), window.width() - 2 * GRID)
        least = self.list.minimumSizeHint().height()
        self.list.setFixedHeight(least)
        other_height = self._height_at(width) - least
        most = min(scaled(_HEIGHT), window.height() - button.height() - other_height - 4 * GRID)
        self.list.setFixedHeight(max(least, min(self.list.height_of_all(), most)))
        self.setFixedSize(width, self._height_at(width))
        self.open_at(button)
        self.list.field.setFocus()

    def _height_at(self, width: int) -> int:
        box = self.card.box
        box.invalidate()
        if box.hasHeightForWidth():
            return box.totalHeightForWidth(width)
        return box.totalSizeHint().height()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit `closed`."""
        super().closeEvent(event)
        self.closed.emit()

    def _make_button(self, button_spec: PickerButton) -> LabelledButton:
        name, drawing, words, act = button_spec
        button = LabelledButton(drawing, words, name, look="quiet")
        button.clicked.connect(self.close)
        button.clicked.connect(act)
        return button

    def _counterpart(self, counterpart: Counterpart) -> QWidget:
        words = self.tr("Same model on {engine}").format(engine=engine_name(counterpart.engine))
        if counterpart.entry is None and counterpart.label:
            words = f"{words}, {counterpart.label}"
        if counterpart.entry is None and counterpart.bytes:
            words = self.tr("{words} ({bytes} to download)").format(
                words=words, bytes=size(counterpart.bytes)
            )
        button = LabelledButton("again", words, f"elsewhere-{counterpart.engine}", look="quiet")
        button.clicked.connect(self.close)
        button.clicked.connect(lambda: self.other_engine.emit(counterpart))
        if counterpart.entry is None and counterpart.why_not:
            button.setEnabled(False)
            button.setToolTip(translated(counterpart.why_not))
        return button


def pick_model(
    entries: Sequence[ModelEntry], use: Callable[[str], object], anchor: QWidget
) -> None:
    """Open a list of models for one message.

    Args:
        use: Receives the id of the chosen model.
    """
    picker = ModelPicker((), anchor.window(), loads=False)
    picker.list.show_models(entries, "", {}, {})
    picker.chosen.connect(picker.close)
    picker.chosen.connect(use)
    picker.open_under(anchor)
