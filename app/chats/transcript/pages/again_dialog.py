"""The dialog for another answer with another model or other sampling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtWidgets import QGridLayout, QWidget

from app.kit.look.theme import GRID
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import DoubleSpinBox, LineField, SpinBox
from app.kit.widgets.form import FormDialog
from app.kit.widgets.label import Label
from app.models.library.pages.model_box import ModelBox
from app.models.library.values.entry import ModelEntry
from app.settings.values.fields import Settings


class AgainDialog(FormDialog):
    """The dialog for another answer to the same question.

    Args:
        entries: The models to choose from.
        current: The id or name of the chat's model.
        settings: The settings of the chat.
        choose: Called with the options that the user has set, as `AnswerOptions.changed` takes
            them. Unchanged options are not among them, so that the chat's settings apply.
        parent: The window.
    """

    def __init__(
        self,
        entries: Sequence[ModelEntry],
        current: str,
        settings: Settings,
        choose: Callable[[Mapping[str, object]], object],
        parent: QWidget,
    ) -> None:
        save = UserAction("againGo", "", self.tr("Answer again"), self._go)
        title = self.tr("Answer again in another way")
        super().__init__("againDialog", title, save, "againCancel", parent=parent)
        self._choose = choose
        self._model = ModelBox("againInModel", self.tr("Same as this chat"))
        model = next((entry.id for entry in entries if current in {entry.id, entry.name}), None)
        self._model.show_models(entries, model)
        self._default_model = self._model.chosen_model
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
        self._max_tokens = SpinBox()
        self._max_tokens.setObjectName("againMaxTokens")
        self._max_tokens.setRange(0, 1_000_000)
        self._max_tokens.setSpecialValueText(self.tr("Unchanged"))
        self._seed = LineField("againSeed", self.tr("Seed"), hint=self.tr("New"))
        explanation = self.tr("The current answer stays as another branch.")
        form = QGridLayout()
        form.setHorizontalSpacing(2 * GRID)
        form.setVerticalSpacing(GRID + 2)
        fields = (
            (self.tr("Model"), self._model),
            (self.tr("Temperature"), self._temperature),
            (self.tr("Longest answer, in tokens"), self._max_tokens),
            (self.tr("Seed"), self._seed),
        )
        for row, (title, field) in enumerate(fields):
            field.setAccessibleName(title)
            label = Label(title, wrap=True)
            label.setBuddy(field)
            form.addWidget(label, row, 0)
            form.addWidget(field, row, 1)
        self.lay_out(Label(explanation, "muted", wrap=True), form, first=self._model)

    def _go(self) -> None:
        changes: dict[str, object] = {}
        if self._model.chosen_model != self._default_model:
            changes["model"] = self._model.chosen_model
        if self._temperature.value() >= 0:
            changes["temperature"] = round(self._temperature.value(), 1)
        if self._max_tokens.value():
            changes["max_tokens"] = self._max_tokens.value()
        if self._seed.text().strip().isdigit():
            changes["seed"] = int(self._seed.text())
        self.accept()
        self._choose(changes)
