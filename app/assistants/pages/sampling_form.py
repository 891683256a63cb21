"""The form for sampling: a preset, and each of its settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from app.assistants.pages.layered_setting import LayeredSetting
from app.assistants.values.assistants import ASSISTANT_SETTINGS, Preset, matching
from app.kit.look.theme import GRID
from app.kit.widgets.fields import ComboBox
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.settings.values.fields import fields
from app.settings.values.resolved import ResolvedSettings, Source


class SamplingForm(QWidget):
    """The form for sampling.

    Args:
        owner: The layer that this form edits; values that it set can be reset here.
        words: Returns the text for the source of a value.

    Signals:
        changed(name, value): The user set a value, or removed it (None).
        preset(Preset): The user chose a preset.
        keep(): The user wants to save these values as a preset.
        drop(id): The user wants to delete this preset.
    """

    changed = Signal(str, object)
    preset = Signal(object)
    save_preset = Signal()
    delete_preset = Signal(str)

    def __init__(
        self, owner: Source, words: Callable[[Source], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("samplingForm")
        self._owner = owner
        self._words = words
        self._all_presets: tuple[Preset, ...] = ()
        self._settings: ResolvedSettings | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        self._presets = ComboBox()
        self._presets.setObjectName("presets")
        self._presets.setAccessibleName(self.tr("Preset"))
        self._presets.setMinimumContentsLength(8)
        self._presets.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._presets.activated.connect(self._choose)
        self._save_button = IconButton(
            "plus", self.tr("Save these values as a preset…"), "keepPreset"
        )
        self._save_button.clicked.connect(self.save_preset)
        self._delete_button = IconButton("trash", self.tr("Delete this preset"), "dropPreset")
        self._delete_button.clicked.connect(
            lambda: self.delete_preset.emit(self._presets.currentData())
        )
        row = QHBoxLayout()
        row.setSpacing(GRID)
        title = Label(self.tr("Preset"), "strong")
        title.setBuddy(self._presets)
        row.addWidget(title)
        row.addWidget(self._presets, 1)
        row.addWidget(self._save_button)
        row.addWidget(self._delete_button)
        column.addLayout(row)
        self._box = QWidget()
        self._box.setObjectName("samplingValues")
        self._more = LabelledButton("sliders", "", "moreSampling", look="link")
        self._more.clicked.connect(lambda: self._show_options(self._box.isHidden()))
        column.addWidget(self._more, 0, Qt.AlignmentFlag.AlignLeft)
        self._rows: dict[str, LayeredSetting] = {}
        self._column = QVBoxLayout(self._box)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(12)
        column.addWidget(self._box)
        self._show_options(False)

    def show_presets(self, presets: Sequence[Preset]) -> None:
        """Offer these presets."""
        self._all_presets = tuple(presets)
        self._show_preset()

    def show_settings(self, resolved: ResolvedSettings) -> None:
        """Show the values that apply, and where they come from."""
        self._settings = resolved
        for name in ASSISTANT_SETTINGS:
            value, source = getattr(resolved.settings, name), resolved.source(name)
            if name not in self._rows:
                self._rows[name] = LayeredSetting(name, fields()[name], value)
                self._rows[name].changed.connect(self.changed)
                self._column.addWidget(self._rows[name])
            own = source == self._owner
            self._rows[name].show_value(value, self._words(source), own=own)
        self._show_preset()

    def _show_preset(self) -> None:
        if self._settings is None:
            return
        current = matching(self._all_presets, self._settings.settings)
        self._presets.clear()
        for preset in self._all_presets:
            self._presets.addItem(self._name(preset), preset.id)
        if current is None:
            self._presets.addItem(self.tr("Custom"), None)
        index = self._all_presets.index(current) if current else len(self._all_presets)
        self._presets.setCurrentIndex(index)
        self._save_button.setEnabled(current is None)
        self._delete_button.setVisible(current is not None and not current.builtin)

    def _name(self, preset: Preset) -> str:
        names = {
            "exact": self.tr("Precise"),
            "balanced": self.tr("Balanced"),
            "lively": self.tr("Creative"),
        }
        return names.get(preset.id, preset.name) if preset.builtin else preset.name

    def _choose(self, index: int) -> None:
        if index < len(self._all_presets):
            self.preset.emit(self._all_presets[index])

    def _show_options(self, unfolded: bool) -> None:
        self._box.setVisible(unfolded)
        text = self.tr("Fewer options") if unfolded else self.tr("All options")
        self._more.redraw("sliders", text)
