"""A setting in a narrow form: its editor, and the source of its value."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import keep_room
from app.settings.pages.editors import make_editor
from app.settings.pages.long_text import LongText
from app.settings.values.field import SettingField

_EDITOR_WIDTH = 112
_ZERO_IS_OPEN = {"context", "max_tokens"}
"""Settings whose value 0 means that the model and this computer determine it."""


class LayeredSetting(QWidget):
    """A setting with its editor and the source of its value.

    Signals:
        changed(name, value): The user set a value here, or removed it (None).
    """

    changed = Signal(str, object)

    def __init__(
        self, name: str, field: SettingField, value: object, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"held-{name}")
        self._name = name
        self._field = field
        self._value = value
        self._editor = self._create_editor(value)
        title = Label(translated(field.title), "strong")
        title.setBuddy(self._editor)
        title.setToolTip(translated(field.description))
        self._source = Label("", "small", name=f"source-{name}")
        self._reset = LabelledButton("again", self.tr("Reset"), f"take-back-{name}", look="link")
        self._reset.setAccessibleName(
            self.tr("Reset {title}").format(title=translated(field.title))
        )
        self._reset.clicked.connect(lambda: self.changed.emit(name, None))
        keep_room(self._reset)
        footer = QHBoxLayout()
        footer.setSpacing(GRID)
        footer.addWidget(self._source)
        footer.addStretch(1)
        footer.addWidget(self._reset)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        if isinstance(self._editor, LongText):
            self._row: QVBoxLayout | QHBoxLayout = QVBoxLayout()
            self._row.setSpacing(4)
            self._row.addWidget(title)
        else:
            self._row = QHBoxLayout()
            self._row.addWidget(title, 1)
        self._row.addWidget(self._editor)
        self._column.addLayout(self._row)
        self._column.addLayout(footer)
        self.show_value(value, "", own=False)

    def show_value(self, value: object, source: str, *, own: bool) -> None:
        """Show the value.

        Args:
            source: Where the value comes from, as text for the user.
            own: Whether the value was set here.
        """
        if value != self._value and not (own and self._editor.hasFocus()):
            self._replace(value)
        self._value = value
        self._source.setText(source)
        self._reset.setVisible(own)

    def _replace(self, value: object) -> None:
        had_focus = self._editor.hasFocus()
        old_editor, self._editor = self._editor, self._create_editor(value)
        self._row.replaceWidget(old_editor, self._editor)
        old_editor.blockSignals(True)
        old_editor.hide()
        old_editor.deleteLater()
        if had_focus:
            self._editor.setFocus()

    def _create_editor(self, value: object) -> QWidget:
        editor = make_editor(self._field, value, self._changed)
        editor.setObjectName(f"edit-{self._name}")
        editor.setAccessibleName(translated(self._field.title))
        editor.setAccessibleDescription(translated(self._field.description))
        if not isinstance(editor, LongText):
            editor.setFixedWidth(_EDITOR_WIDTH)
        if isinstance(editor, QSpinBox) and self._name in _ZERO_IS_OPEN:
            editor.setSpecialValueText(self.tr("Automatic"))
        return editor

    def _changed(self, value: object) -> None:
        if value != self._value:
            self._value = value
            self.changed.emit(self._name, value)
