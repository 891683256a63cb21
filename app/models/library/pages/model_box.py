"""A box for choosing a model, or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from app.kit.look.icons import icon
from app.kit.look.theme import theme_of
from app.kit.widgets.fields import ComboBox
from app.models.discover.pages.words import fits_word
from app.models.library.pages.names import name_of
from app.models.library.values.entry import ModelEntry

if TYPE_CHECKING:
    from app.models.library.pages.chooser import ModelChooser


class ModelBox(ComboBox):
    """A box that opens the model picker.

    Args:
        otherwise: The text for choosing no model; "" if a model is required.

    Signals:
        chosen: The id of the model that the user chose, or None.
    """

    chosen = Signal(object)

    def __init__(self, name: str, otherwise: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(self.tr("Model"))
        self.setMinimumContentsLength(12)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._otherwise = otherwise
        self._entries: Sequence[ModelEntry] = ()
        self.activated.connect(lambda _: self.chosen.emit(self.currentData()))

    @property
    def chosen_model(self) -> str | None:
        """The id of the chosen model; None if none is chosen."""
        model: str | None = self.currentData()
        return model

    def show_models(self, entries: Sequence[ModelEntry], model: str | None) -> None:
        """Show the models; a missing model is listed by its name, so that it is not lost."""
        self._entries = entries
        self.clear()
        if self._otherwise:
            self.addItem(self._otherwise, None)
        for entry in entries:
            name = name_of(entry)
            if entry.fits == "no":
                name = self.tr("{name} ({verdict})").format(
                    name=name, verdict=fits_word(entry.fits)
                )
            self.addItem(name, entry.id)
            if entry.on_server:
                drawn = icon("server", theme_of(self.palette()).muted, 16)
                self.setItemIcon(self.count() - 1, drawn)
        index = self.findData(model)
        if model is not None and index < 0:
            self.addItem(self.tr("{model} (not here)").format(model=model), model)
            index = self.count() - 1
        self.setCurrentIndex(max(0, index))

    def showPopup(self) -> None:
        """Open the model picker, where one can type: there can be hundreds of models."""
        from app.models.library.pages.model_picker import ModelPicker

        picker = ModelPicker((), self.window(), loads=False)
        picker.list.show_models(self._entries, self.chosen_model or "", {}, {}, self._otherwise)
        picker.chosen.connect(picker.close)
        picker.chosen.connect(self._take)
        picker.open_under(self)

    def _take(self, model: str) -> None:
        self.setCurrentIndex(self.findData(model or None))
        self.chosen.emit(self.chosen_model)


class UsualModelBox(ModelBox):
    """The box for the default model of new chats; the chooser asks before one that is too big."""

    def __init__(self, chooser: ModelChooser) -> None:
        super().__init__("model", "")
        self._chooser = chooser
        self._show()
        self.chosen.connect(self._choose)
        chooser.announced.connect(self._show)
        chooser.judge()

    def _show(self) -> None:
        entries, model = self._chooser.entries(), self._chooser.usual
        named = (entry.id for entry in entries if model in (entry.id, entry.name))
        self.show_models(entries, next(named, model))

    def _choose(self, model: str) -> None:
        self._show()  # the old choice, until the user has agreed to the new one
        self._chooser.use_for_new(model)
