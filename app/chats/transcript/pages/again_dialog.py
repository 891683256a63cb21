"""The dialog for another answer with another model or other sampling."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QGridLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.kit.look.theme import GRID
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.fields import DoubleSpinBox, SpinBox
from app.kit.widgets.label import Label
from app.models.library.pages.model_box import ModelBox
from app.models.library.values.entry import ModelEntry
from app.settings.values.fields import Settings


class AgainDialog(Dialog):
    """The dialog for another answer to the same question.

    Args:
        entries: The models to choose from.
        current: The id or name of the chat's model.
        settings: The settings of the chat.

    Signals:
        chosen(changes): The options that the user has set, as `AnswerOptions.changed` takes them.
            Unchanged options are not among them, so that the chat's settings apply.
    """

    chosen = Signal(object)

    def __init__(
        self,
        entries: Sequence[ModelEntry],
        current: str,
        settings: Settings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("againDialog", width=420, parent=parent)
        self.set_title(self.tr("Answer again in another way"))
        self._model = ModelBox("againInModel", self.tr("Same as this chat"))
        model = next((it.id for it in entries if current in {it.id, it.name}), None)
        self._model.show_models(entries, model)
        self._usual_model = self._model.chosen_model
        self._temperature = DoubleSpinBox()
        self._temperature.setObjectName("againTemperature")
        self._temperature.setRange(-0.1, 5.0)
        self._temperature.setSingleStep(0.1)
        self._temperature.setDecimals(1)
        self._temperature.setValue(-0.1)
        self._temperature.setSpecialValueText(self.tr("Unchanged"))
        self._temperature.setToolTip(
            self.tr("Now {temperature}. 0 always picks the likeliest word.").format(
                temperature=f"{settings.temperature:g}"
            )
        )
        self._most = SpinBox()
        self._most.setObjectName("againMaxTokens")
        self._most.setRange(0, 1_000_000)
        self._most.setSpecialValueText(self.tr("Unchanged"))
        self._seed = QLineEdit()
        self._seed.setObjectName("againSeed")
        self._seed.setPlaceholderText(self.tr("New"))
        column = self.column
        said = self.tr("The current answer stays as another branch.")
        column.addWidget(Label(said, "muted", wrap=True))
        form = QGridLayout()
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID + 2)
        fields = (
            (self.tr("Model"), self._model),
            (self.tr("Temperature"), self._temperature),
            (self.tr("Longest answer, in tokens"), self._most),
            (self.tr("Seed"), self._seed),
        )
        for row, (title, field) in enumerate(fields):
            field.setAccessibleName(title)
            form.addWidget(Label(title, wrap=True), row, 0)
            form.addWidget(field, row, 1)
        column.addLayout(form)
        column.addStretch(1)
        self._make_buttons()

    def _make_buttons(self) -> None:
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("againCancel")
        cancel.clicked.connect(self.reject)
        go = QPushButton(self.tr("Answer again"))
        go.setObjectName("againGo")
        go.setProperty("look", "primary")
        go.setDefault(True)
        go.clicked.connect(self._go)
        self.add_buttons(cancel, go)

    def _go(self) -> None:
        changes: dict[str, object] = {}
        if self._model.chosen_model != self._usual_model:
            changes["model"] = self._model.chosen_model
        if self._temperature.value() >= 0:
            changes["temperature"] = round(self._temperature.value(), 1)
        if self._most.value():
            changes["max_tokens"] = self._most.value()
        if self._seed.text().strip().isdigit():
            changes["seed"] = int(self._seed.text())
        self.accept()
        self.chosen.emit(changes)
