"""One setting in the form: its title, its editor, its description, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QVBoxLayout, QWidget

from app.kit.look.language import translated
from app.kit.look.scale import scaled
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.settings.pages.editors import make_editor, show_value
from app.settings.pages.long_text import LongText
from app.settings.values.field import SettingField

_EDITOR_WIDTH = 200
_BESIDE = 440
"""Pixels from which on the editor has room beside the text; else it is below."""

Maker = Callable[[object, Callable[[object], None]], QWidget]
"""Makes an editor that shows a value and tells each new one."""


class SettingRow(QWidget):
    """changed(name, value): the user has set a value; it may be refused with `show_problem`.

    make: an editor of its own, where the type of the setting does not say enough. resets: a value
    other than the default is marked, and can be given up here.
    """

    changed = Signal(str, object)

    def __init__(
        self,
        name: str,
        field: SettingField,
        value: object,
        parent: QWidget | None = None,
        *,
        make: Maker | None = None,
        resets: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"setting-{name}")
        self._name = name
        self._field = field
        self._value = value
        self._resets = resets
        name_of, about = translated(field.title or name), translated(field.description or "")
        also = f"{field.also} {translated(field.also)}"
        self.words = f"{name} {field.title} {name_of} {about} {also}".lower()
        self.editor = (
            make(value, self._take) if make is not None else make_editor(field, value, self._take)
        )
        self.editor.setObjectName(name)
        self.editor.setAccessibleName(name_of)
        self.editor.setAccessibleDescription(about)
        self._problem = Label("", "problem", name=f"problem-{name}", wrap=True)
        self._problem.hide()
        self._note = Label("", "caution", name=f"note-{name}", wrap=True)
        self._note.hide()
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(name_of, "strong", wrap=True))
        texts.addWidget(Label(about, "small", wrap=True))
        self._differs = self._mark(name_of)
        texts.addWidget(self._differs)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self._across = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._across.setSpacing(12)
        self._across.addLayout(texts, 1)
        self._across.addWidget(self.editor)
        column.addLayout(self._across)
        if not isinstance(self.editor, LongText | QCheckBox):
            self.editor.setFixedWidth(_EDITOR_WIDTH)
        self._arrange()
        column.addWidget(self._note)
        column.addWidget(self._problem)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def show_value(self, value: object) -> None:
        """Show the value that applies now, unless the editor shows it already."""
        if value != self._value:
            self._value = value
            show_value(self.editor, value)
            self.show_problem("")
        self._differs.setVisible(self._resets and value != self._field.default)

    def show_note(self, text: str) -> None:
        """Why this cannot be here, whatever is set; "" takes it back."""
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def show_problem(self, text: str) -> None:
        """Say why a value was refused; "" takes it back."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))

    def _mark(self, name_of: str) -> FlowRow:
        """What says that the value is not the default, with the way back."""
        reset = LabelledButton(
            "again", self.tr("Reset"), f"reset-{self._name}", look="link", tone="accent_text"
        )
        reset.setAccessibleName(self.tr("Reset {0}").format(name_of))
        reset.clicked.connect(self._reset)
        differs = FlowRow(Label(self.tr("Changed"), "small", name=f"differs-{self._name}"), reset)
        if not self._resets or self._value == self._field.default:
            differs.hide()
        return differs

    def _reset(self) -> None:
        # The button is about to leave, and would give the focus to anything.
        self.editor.setFocus()
        self.changed.emit(self._name, self._field.default)

    def _take(self, value: object) -> None:
        self._value = value
        self.changed.emit(self._name, value)

    def _arrange(self) -> None:
        direction = QBoxLayout.Direction
        small = isinstance(self.editor, QCheckBox)  # a switch has room everywhere
        beside = small or (
            self.width() >= scaled(_BESIDE) and not isinstance(self.editor, LongText)
        )
        self._across.setDirection(direction.LeftToRight if beside else direction.TopToBottom)
