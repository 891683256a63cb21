"""One setting in the form: its title, its editor, its description, and what is wrong with it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app.core.settings.field import SettingField
from app.ui.look.language import translated
from app.ui.settings.editors import make_editor
from app.ui.settings.long_text import LongText
from app.ui.widgets.label import Label

_EDITOR_WIDTH = 200


class SettingRow(QWidget):
    """changed(name, value): the user has set a value; it may be refused with `show_problem`."""

    changed = Signal(str, object)

    def __init__(
        self, name: str, field: SettingField, value: object, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"setting-{name}")
        name_of, about = translated(field.title or name), translated(field.description or "")
        self.words = f"{name} {field.title} {name_of} {about}".lower()
        self.editor = make_editor(field, value, lambda new: self.changed.emit(name, new))
        self.editor.setObjectName(name)
        self.editor.setAccessibleName(name_of)
        self.editor.setAccessibleDescription(about)
        title = Label(name_of, "strong")
        description = Label(about, "small", wrap=True)
        self._problem = Label("", "problem", name=f"problem-{name}", wrap=True)
        self._problem.hide()
        self._note = Label("", "caution", name=f"note-{name}", wrap=True)
        self._note.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(title)
        texts.addWidget(description)
        if isinstance(self.editor, LongText):
            column.addLayout(texts)
            column.addSpacing(4)
            column.addWidget(self.editor)
        else:
            row = QHBoxLayout()
            row.setSpacing(24)
            row.addLayout(texts, 1)
            if not isinstance(self.editor, QCheckBox):
                self.editor.setFixedWidth(_EDITOR_WIDTH)
            row.addWidget(self.editor)
            column.addLayout(row)
        column.addWidget(self._note)
        column.addWidget(self._problem)

    def show_note(self, text: str) -> None:
        """Why this cannot be here, whatever is set; "" takes it back."""
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def show_problem(self, text: str) -> None:
        """Say why a value was refused; "" takes it back."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))
