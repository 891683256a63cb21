"""The widgets for editing a setting, chosen by the setting's type alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QSpinBox,
    QWidget,
)

from app.base.language import translated
from app.kit.widgets.composing import ComposedLine
from app.kit.widgets.fields import LONGEST_WORDS, ComboBox, DoubleSpinBox, SpinBox
from app.kit.widgets.switch import Switch
from app.settings.pages.long_text import LongText
from app.settings.values.field import SettingField
from app.settings.values.fields import display_text, is_multiline, limits_of

_LARGEST_INT = 2_147_483_647
_INSET = 8
"""In pixels. Style sheets do not reach the text of a spin box."""


def make_editor(field: SettingField, value: Any, changed: Callable[[object], None]) -> QWidget:
    """Return an editor that shows `value` and calls `changed` with each new value."""
    kind = field.annotation
    if get_origin(kind) is Literal:
        return _choice([str(word) for word in get_args(kind)], str(value), changed)
    if kind is bool:
        return _switch(bool(value), changed)
    if kind is int:
        return _whole_number(field, int(value), changed)
    if kind is float:
        return _number(field, float(value), changed)
    if is_multiline(field):
        return _long_text(str(value), changed)
    return _text(str(value), changed)


def show_value(editor: QWidget, value: Any) -> None:
    """Show another value in an editor without calling its `changed`."""
    editor.blockSignals(True)
    match editor:
        case ComboBox():
            editor.setCurrentIndex(editor.findData(value))
        case QCheckBox():
            editor.setChecked(value)
            editor.update()
        case SpinBox() | DoubleSpinBox():
            editor.setValue(value)
        case QLineEdit():
            editor.setText(value)
        case LongText():
            editor.show_text(value)
    editor.blockSignals(False)


def _choice(words: list[str], value: str, changed: Callable[[object], None]) -> QComboBox:
    box = ComboBox()
    for word in words:
        box.addItem(translated(display_text(word)), word)
    box.setCurrentIndex(words.index(value))
    box.currentIndexChanged.connect(lambda index: changed(box.itemData(index)))
    return box


def _switch(value: bool, changed: Callable[[object], None]) -> Switch:
    box = Switch()
    box.setChecked(value)
    box.toggled.connect(changed)
    return box


def _whole_number(field: SettingField, value: int, changed: Callable[[object], None]) -> QSpinBox:
    low, high = limits_of(field)
    box = SpinBox()
    box.setRange(
        int(low) if low is not None else -_LARGEST_INT,
        min(int(high), _LARGEST_INT) if high is not None else _LARGEST_INT,
    )
    box.lineEdit().setTextMargins(_INSET, 0, _INSET, 0)
    _explain(box, field)
    box.setGroupSeparatorShown(bool(field.unit))  # a port, for example, is not a quantity
    box.setKeyboardTracking(False)
    box.setValue(value)
    box.valueChanged.connect(changed)
    return box


def _number(field: SettingField, value: float, changed: Callable[[object], None]) -> QDoubleSpinBox:
    low, high = limits_of(field)
    box = DoubleSpinBox()
    box.lineEdit().setTextMargins(_INSET, 0, _INSET, 0)
    _explain(box, field)
    box.setDecimals(2)
    box.setSingleStep(0.05)
    box.setRange(low if low is not None else -1e9, high if high is not None else 1e9)
    box.setKeyboardTracking(False)
    box.setValue(value)
    box.valueChanged.connect(lambda number: changed(round(number, 4)))
    return box


def _explain(box: QSpinBox | QDoubleSpinBox, field: SettingField) -> None:
    """Set the unit as a suffix, and the word for the lowest value, such as “Automatic”."""
    if field.unit:
        box.setSuffix(f" {translated(field.unit)}")
    if field.lowest_label:
        box.setSpecialValueText(translated(field.lowest_label))


def _text(value: str, changed: Callable[[object], None]) -> QLineEdit:
    line = ComposedLine(value)
    line.setMaxLength(max(LONGEST_WORDS, len(value)))
    line.editingFinished.connect(lambda: changed(line.text()))
    return line


def _long_text(value: str, changed: Callable[[object], None]) -> LongText:
    edit = LongText(value)
    edit.changed.connect(changed)
    return edit
