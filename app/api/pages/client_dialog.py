"""The dialog that makes a key for a program: its name, model and limit; then shows the key once."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.base.language import in_full
from app.kit.look.theme import GRID
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.fields import SpinBox
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.models.library.pages.model_box import ModelBox
from app.models.library.values.entry import ModelEntry
from engines.errors import UserError

_WIDTH = 480
_MOST = 100_000


class ClientDialog(Dialog):
    """A dialog that makes a key for a program.

    Signals:
        add(name, model ids, requests a minute): Make a key; the owner answers with `show_key` or
            `show_problem`.
    """

    add = Signal(str, tuple, int)

    def __init__(self, models: Sequence[ModelEntry], parent: QWidget | None = None) -> None:
        super().__init__("clientDialog", width=_WIDTH, parent=parent)
        self.set_title(self.tr("Add a program"))
        self._name = QLineEdit()
        self._name.setObjectName("clientName")
        self._name.setAccessibleName(self.tr("Name"))
        self._name.setPlaceholderText(self.tr("Such as: editor"))
        self._name.textChanged.connect(self._enable_button)
        self._model = ModelBox("clientModel", self.tr("All models"))
        self._model.setAccessibleName(self.tr("May use"))
        self._model.show_models(models, None)
        self._limit = SpinBox()
        self._limit.setObjectName("clientLimit")
        self._limit.setAccessibleName(self.tr("Requests a minute"))
        self._limit.setRange(0, _MOST)
        self._limit.setSpecialValueText(self.tr("No limit"))
        form = QVBoxLayout()
        form.setSpacing(GRID // 2)
        for field in (self._name, self._model, self._limit):
            form.addWidget(Label(field.accessibleName(), "small"))
            form.addWidget(field)
        self.column.addLayout(form)
        self._message = Label("", name="clientSaid", wrap=True, selectable=True)
        self._message.hide()
        self._key = QLineEdit()
        self._key.setObjectName("clientKey")
        self._key.setAccessibleName(self.tr("Key"))
        self._key.setReadOnly(True)
        self._key.hide()
        self.column.addWidget(self._message)
        self.column.addWidget(self._key)
        self.column.addStretch(1)
        self._close = LabelledButton("close", self.tr("Cancel"), "closeClient")
        self._close.clicked.connect(self.reject)
        self._make = LabelledButton(
            "key", self.tr("Make a key"), "makeClient", look="primary", tone="on_accent"
        )
        self._make.clicked.connect(self._request_key)
        self._copy = LabelledButton(
            "copy", self.tr("Copy key"), "copyClientKey", look="primary", tone="on_accent"
        )
        self._copy.clicked.connect(self._copy_key)
        self._copy.hide()
        self.add_buttons(self._close, self._make, self._copy)
        self._enable_button()

    def show_key(self, key: str) -> None:
        """Show the new key; it is stored nowhere."""
        for field in (self._name, self._model, self._limit):
            field.setEnabled(False)
        self._show_message(
            self.tr("Copy the key into the program now: it is shown only this once."), ""
        )
        self._key.setText(key)
        self._key.show()
        self._make.hide()
        self._copy.show()
        self._close.redraw("check", self.tr("Done"))
        self.fit()
        self._copy.setFocus()

    def show_problem(self, error: UserError) -> None:
        """Show why no key was made; the user can try again."""
        self._show_message(in_full(error), "problem")
        self._enable_button()
        self.fit()

    def _show_message(self, text: str, look: str) -> None:
        self._message.setProperty("look", look)
        self._message.style().unpolish(self._message)
        self._message.style().polish(self._message)
        self._message.setText(text)
        self._message.show()

    def _enable_button(self) -> None:
        self._make.setEnabled(bool(self._name.text().strip()))

    def _request_key(self) -> None:
        self._make.setEnabled(False)
        model = self._model.chosen_model
        self.add.emit(self._name.text(), (model,) if model else (), self._limit.value())

    def _copy_key(self) -> None:
        QGuiApplication.clipboard().setText(self._key.text())
        self._copy.redraw("check", self.tr("Copied"))
