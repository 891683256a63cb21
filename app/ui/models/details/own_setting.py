"""One setting of one model: its editor, and whether it is the model's own or the app's."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.settings.field import SettingField
from app.ui.look.language import translated
from app.ui.settings.setting_row import SettingRow
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton


class OwnSetting(QWidget):
    """changed(name, value): the user has set it for this model; a value of None takes it back."""

    changed = Signal(str, object)

    def __init__(
        self, name: str, field: SettingField, general: object, parent: QWidget | None = None
    ) -> None:
        """general: what holds as long as the model has no value of its own."""
        super().__init__(parent)
        self.setObjectName(f"own-{name}")
        self._name = name
        self._field = field
        self._general = general
        self._is_own = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self._row = self._make_row(general)
        self._column.addWidget(self._row)
        right = Qt.AlignmentFlag.AlignRight
        self._as_settings = Label(self.tr("As in the settings"), "small", name=f"general-{name}")
        self._column.addWidget(self._as_settings, 0, right)
        title = translated(field.title or name)
        self._reset = LabelledButton(
            "again", self.tr("As in the settings"), f"reset-{name}", look="link", tone="accent_text"
        )
        self._reset.setAccessibleName(self.tr("{0}: as in the settings").format(title))
        self._reset.clicked.connect(lambda: self.changed.emit(name, None))
        self._column.addWidget(self._reset, 0, right)
        self._mark()

    def show_own(self, value: object | None) -> None:
        """The model's own value; None if it has none."""
        was_own, self._is_own = self._is_own, value is not None
        if was_own and not self._is_own:
            self._replace(self._general)
        elif self._is_own and not was_own and not self._row.editor.hasFocus():
            self._replace(value)
        self._row.show_problem("")
        self._mark()

    def show_problem(self, text: str) -> None:
        """Say why a value was refused."""
        self._row.show_problem(text)

    def _replace(self, value: object) -> None:
        before, self._row = self._row, self._make_row(value)
        self._column.replaceWidget(before, self._row)
        before.hide()
        before.deleteLater()

    def _make_row(self, value: object) -> SettingRow:
        row = SettingRow(self._name, self._field, value)
        row.changed.connect(self.changed)
        return row

    def _mark(self) -> None:
        self._as_settings.setVisible(not self._is_own)
        self._reset.setVisible(self._is_own)
