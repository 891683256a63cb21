"""The dialog that makes a key for a program: its name, model and limit; then shows the key once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import LineField, SpinBox
from app.kit.widgets.form import FormDialog, field
from app.kit.widgets.layouts import column
from app.models.library.pages.model_box import ModelBox
from app.models.library.values.entry import ModelEntry

_MOST = 100_000


class ClientDialog(FormDialog):
    """A dialog that makes a key for a program; its owner answers with `show_key`.

    Args:
        models: The models to choose from.
        add: Called with the dialog, a name, the ids of models and requests a minute.
        parent: The window.
    """

    def __init__(
        self,
        models: Sequence[ModelEntry],
        add: Callable[[ClientDialog, str, tuple[str, ...], int], object],
        parent: QWidget,
    ) -> None:
        super().__init__(
            "clientDialog",
            self.tr("Add a program"),
            UserAction("makeClient", "key", self.tr("Make a key"), self._request_key),
            "closeClient",
            problem="clientSaid",
            width=480,
            parent=parent,
        )
        self._add = add
        name, may_use, limit = self.tr("Name"), self.tr("May use"), self.tr("Requests a minute")
        self._name = LineField("clientName", name, hint=self.tr("Such as: editor"))
        self._model = ModelBox("clientModel", self.tr("All models"))
        self._model.setAccessibleName(may_use)
        self._model.show_models(models, None)
        self._limit = SpinBox()
        self._limit.setObjectName("clientLimit")
        self._limit.setAccessibleName(limit)
        self._limit.setRange(0, _MOST)
        self._limit.setSpecialValueText(self.tr("No limit"))
        self._key = LineField("clientKey", self.tr("Key"))
        self._key.setReadOnly(True)
        self._key.hide()
        self._copy = UserAction(
            "copyClientKey", "copy", self.tr("Copy key"), self._copy_key
        ).button("primary")
        self._copy.hide()
        self.add_buttons(self._copy)
        form = column(
            field(name, self._name, look="small"),
            field(may_use, self._model, look="small"),
            field(limit, self._limit, look="small"),
            spacing=4,
        )
        self.lay_out(form, self.problem, self._key, first=self._name)
        self.save_if(lambda: self._name.words, self._name.textChanged)

    def show_key(self, key: str) -> None:
        """Show the new key; it is stored nowhere."""
        if not self.is_open:
            return
        for part in (self._name, self._model, self._limit):
            part.setEnabled(False)
        self._key.setText(key)
        self._key.show()
        self.save.hide()
        self._copy.show()
        self.leave.redraw("check", self.tr("Done"))
        self.say(self.tr("Copy the key into the program now: it is shown only this once."), "")
        self._copy.setFocus()

    def _request_key(self) -> None:
        model = self._model.chosen_model
        self._add(self, self._name.text(), (model,) if model else (), self._limit.value())

    def _copy_key(self) -> None:
        QGuiApplication.clipboard().setText(self._key.text())
        self._copy.redraw("check", self.tr("Copied"))
