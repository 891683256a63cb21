"""The button with the name of the model in use, and the picker that it opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.kit.look.scale import scaled
from app.kit.widgets.menu_button import MenuButton
from app.models.library.pages.names import name_of

if TYPE_CHECKING:
    from app.models.discover.values.counterparts import Counterpart
    from app.models.library.pages.chooser import ModelChooser
    from app.models.library.pages.model_picker import ModelPicker, PickerButton
    from app.models.library.presenters.overview import ModelOverview
    from app.models.library.values.overview import ListedFacts
    from app.runtime.presenters.loaded import LoadedModels

_WIDEST_NAME: Final = 280
_LEAST_NAME: Final = 72
_UPDATE_MS: Final = 500
"""How often the open list checks which models are in memory: answers load models too."""


class ModelButton(MenuButton):
    """The button with the name of the model in use; the tooltip holds a name that is elided."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("modelMenu", "quiet", parent)
        self._name = ""
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_model(self, name: str) -> None:
        """Show a model's name, elided in the middle if it is too long."""
        self._name = name
        self.setAccessibleName(self.tr("Model: {name}").format(name=name))
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        """Return the space for the whole name, within limits."""
        name_width = min(self.fontMetrics().horizontalAdvance(self._name) + 2, scaled(_WIDEST_NAME))
        return QSize(self._frame_width() + name_width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Return the space for a heavily elided name."""
        least = min(self.sizeHint().width(), self._frame_width() + scaled(_LEAST_NAME))
        return QSize(least, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the name again for the new width."""
        super().resizeEvent(event)
        self._fit()

    def _frame_width(self) -> int:
        """Return the pixels that the padding and the arrow take beside the name."""
        return super().sizeHint().width() - self.fontMetrics().horizontalAdvance(self.text())

    def _fit(self) -> None:
        room = self.width() - self._frame_width()
        middle = Qt.TextElideMode.ElideMiddle
        elided = self.fontMetrics().elidedText(self._name, middle, max(room, 0))
        if elided != self.text():
            self.setText(elided)
        self.setToolTip("" if elided == self._name else self._name)


class ModelPicking(QObject):
    """Opens a button's model picker, and carries out the user's choice.

    Args:
        overview: Returns the presenter of the models' facts; called when the picker first opens.

    Signals:
        opening: The picker opens, so that counterparts can be looked up.
        other_engine: A Counterpart: the user wants the same model on another engine.
    """

    opening = Signal()
    other_engine = Signal(object)

    def __init__(
        self,
        button: ModelButton,
        chooser: ModelChooser,
        loaded: LoadedModels,
        overview: Callable[[], ModelOverview],
        buttons: Sequence[PickerButton] = (),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent or button)
        self.picker: ModelPicker | None = None
        self._button = button
        self._chooser = chooser
        self._loaded = loaded
        self._overview = overview
        self._buttons = buttons
        self._facts: dict[str, ListedFacts] = {}
        self._knows_facts = False
        self._counterparts: Sequence[Counterpart] = ()
        self._timer = QTimer(self)
        self._timer.setInterval(_UPDATE_MS)
        self._timer.timeout.connect(self._update_states)
        self._states = self._loaded.states()
        self._shares = self._loaded.shares()
        button.clicked.connect(self.open)
        chooser.announced.connect(self._show)
        loaded.changed.connect(self._update_states)
        self._show()

    def open(self) -> None:
        """Open the picker below the button, unless it is open already."""
        if self.picker is not None:
            return
        from app.models.library.pages.model_picker import ModelPicker

        picker = self.picker = ModelPicker(self._buttons, self._button.window())
        picker.chosen.connect(self._choose)
        picker.list.load.connect(self._chooser.load)
        picker.list.eject.connect(self._loaded.eject)
        picker.for_new.connect(self._for_new)
        picker.other_engine.connect(self.other_engine)
        picker.closed.connect(self._closed)
        self._counterparts = ()
        self._states = self._loaded.states()
        self._show()
        picker.open_under(self._button)
        self._button.setDown(True)
        self._timer.start()
        overview = self._overview()
        if not self._knows_facts:
            self._knows_facts = True
            overview.learnt.connect(self._learnt)
        overview.look()
        self._chooser.judge()
        self.opening.emit()

    def show_counterparts(self, counterparts: Sequence[Counterpart]) -> None:
        """Offer the same model on other engines."""
        if self.picker is not None and counterparts != self._counterparts:
            self._counterparts = counterparts
            self.picker.show_counterparts(counterparts)
            self.picker.open_under(self._button)

    def _choose(self, model: str) -> None:
        self._close()
        self._chooser.use(model)

    def _for_new(self) -> None:
        self._close()
        self._chooser.use_for_new()

    def _close(self) -> None:
        if self.picker is not None:
            self.picker.close()

    def _closed(self) -> None:
        self.picker = None
        self._timer.stop()
        self._button.setDown(False)

    def _learnt(self, facts: Sequence[ListedFacts]) -> None:
        self._facts |= {model_facts.id: model_facts for model_facts in facts}
        if self.picker is not None and facts:
            self._fill(self.picker)

    def _update_states(self) -> None:
        """Update which models are in memory and how far others are loaded, if that has changed."""
        loaded = self._loaded
        states, shares = loaded.states(), loaded.shares()
        if (states, shares) != (self._states, self._shares):
            self._states, self._shares = states, shares
            if self.picker is not None:
                self._fill(self.picker)

    def _show(self) -> None:
        entry, current = self._chooser.current_entry(), self._chooser.current()
        self._button.show_model(name_of(entry) if entry is not None else current)
        if self.picker is not None:
            self._fill(self.picker)

    def _fill(self, picker: ModelPicker) -> None:
        entries, current = self._chooser.entries(), self._chooser.current()
        picker.list.show_models(entries, current, self._facts, self._states, shares=self._shares)
        usual = self._chooser.usual
        if usual is not None:
            entry = next((entry for entry in entries if usual in (entry.id, entry.name)), None)
            same = current == usual or (entry is not None and current in (entry.id, entry.name))
            picker.show_usual(name_of(entry) if entry else usual, same=same)
