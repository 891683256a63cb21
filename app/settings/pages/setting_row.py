"""A row of the settings form: title, editor, description, and a message about a problem."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.scale import scaled
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import keep_room
from app.settings.pages.editors import make_editor, show_value
from app.settings.pages.long_text import LongText
from app.settings.values.field import SettingField

_EDITOR_WIDTH = 200
_WIDTH_FOR_TWO_COLUMNS = 440
"""In pixels. From this width on the editor is beside the text, otherwise below it."""

EditorMaker = Callable[[object, Callable[[object], None]], QWidget]
"""Returns an editor that shows a value and calls the function with each new value."""


class SettingRow(QWidget):
    """A setting in a form.

    Args:
        make: Creates a special editor, for a setting whose type does not determine one.
        resets: Whether to mark a value that is not the default and offer to reset it.

    Signals:
        changed(name, value): The user set a value; call `show_problem` if it is refused.
    """

    changed = Signal(str, object)

    def __init__(
        self,
        name: str,
        field: SettingField,
        value: object,
        parent: QWidget | None = None,
        *,
        make: EditorMaker | None = None,
        resets: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"setting-{name}")
        self._name = name
        self._field = field
        self._value = value
        self._resets = resets
        title, description = translated(field.title or name), translated(field.description or "")
        keywords = f"{field.keywords} {translated(field.keywords)}"
        self.words = f"{name} {field.title} {title} {description} {keywords}".lower()
        self.editor = (
            make(value, self._report_change)
            if make is not None
            else make_editor(field, value, self._report_change)
        )
        self.editor.setObjectName(name)
        self.editor.setAccessibleName(title)
        self.editor.setAccessibleDescription(description)
        self._problem = Label("", "problem", name=f"problem-{name}", wrap=True)
        self._problem.hide()
        self._note = Label("", "caution", name=f"note-{name}", wrap=True)
        self._note.hide()
        texts = QVBoxLayout()
        texts.setSpacing(2)
        heading = Label(title, "strong", wrap=True)
        heading.setBuddy(self.editor)
        texts.addWidget(heading)
        texts.addWidget(Label(description, "small", wrap=True))
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
        self._changed_mark = self._mark(title)
        column.addWidget(self._changed_mark)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the editor beside or below the text."""
        super().resizeEvent(event)
        self._arrange()

    def show_value(self, value: object) -> None:
        """Show the current value, unless the editor shows it already."""
        if value != self._value:
            self._value = value
            show_value(self.editor, value)
            self.show_problem("")
        self._changed_mark.setVisible(self._resets and value != self._field.default)

    def show_note(self, text: str) -> None:
        """Show why the setting has no effect on this computer; "" hides the note."""
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def show_problem(self, text: str) -> None:
        """Show why a value was refused; "" hides the message."""
        self._problem.setText(text)
        self._problem.setVisible(bool(text))

    def _mark(self, title: str) -> FlowRow:
        """Return the mark for a value that is not the default, with a button to reset it."""
        reset = LabelledButton("again", self.tr("Reset"), f"reset-{self._name}", look="link")
        reset.setAccessibleName(self.tr("Reset {title}").format(title=title))
        reset.clicked.connect(self._reset)
        mark = FlowRow(Label(self.tr("Changed"), "small", name=f"differs-{self._name}"), reset)
        if self._resets:
            keep_room(mark)
        if not self._resets or self._value == self._field.default:
            mark.hide()
        return mark

    def _reset(self) -> None:
        # The button is about to be hidden, and the focus would move to an arbitrary widget.
        self.editor.setFocus()
        self.changed.emit(self._name, self._field.default)

    def _report_change(self, value: object) -> None:
        self._value = value
        self.changed.emit(self._name, value)

    def _arrange(self) -> None:
        direction = QBoxLayout.Direction
        is_small = isinstance(self.editor, QCheckBox)  # a switch is small enough for any width
        is_beside = is_small or (
            self.width() >= scaled(_WIDTH_FOR_TWO_COLUMNS) and not isinstance(self.editor, LongText)
        )
        self._across.setDirection(direction.LeftToRight if is_beside else direction.TopToBottom)
