"""The settings of one model, which follow the app's until the user changes them for this model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import keep_room
from app.kit.widgets.panel import Panel
from app.settings.pages.setting_row import EditorMaker, SettingRow
from app.settings.values.field import SettingField
from app.settings.values.fields import fields
from app.settings.values.models import ANSWERING, ENGINE, LOAD, THINKING
from engines.errors import UserError


class OwnSetting(QWidget):
    """The row of one setting of a model.

    Args:
        general: The value while the model has none of its own.
        make: Makes the editor; see `SettingRow`.

    Signals:
        changed: The setting's name and its value for this model; None resets it.
    """

    changed = Signal(str, object)

    def __init__(
        self,
        name: str,
        field: SettingField,
        general: object,
        parent: QWidget | None = None,
        *,
        make: EditorMaker | None = None,
    ) -> None:
        super().__init__(parent)
        self._make = make
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
        self._as_settings = Label(self.tr("As in the settings"), "small", name=f"general-{name}")
        title = translated(field.title or name)
        self._reset = LabelledButton(
            "again", self.tr("As in the settings"), f"reset-{name}", look="link"
        )
        self._reset.setAccessibleName(self.tr("{title}: as in the settings").format(title=title))
        self._reset.clicked.connect(lambda: self.changed.emit(name, None))
        keep_room(self._reset)
        below = QHBoxLayout()
        below.addStretch(1)
        below.addWidget(self._as_settings)
        below.addWidget(self._reset)
        self._column.addLayout(below)
        self._mark()

    def show_own(self, value: object | None) -> None:
        """Show the model's own value; None means that it has none."""
        was_own, self._is_own = self._is_own, value is not None
        if was_own and not self._is_own:
            self._replace(self._general)
        elif self._is_own and not was_own and not self._row.editor.hasFocus():
            self._replace(value)
        self._row.show_problem("")
        self._mark()

    def show_problem(self, text: str) -> None:
        """Show why a value was refused."""
        self._row.show_problem(text)

    def _replace(self, value: object) -> None:
        before, self._row = self._row, self._make_row(value)
        self._column.replaceWidget(before, self._row)
        before.hide()
        before.deleteLater()

    def _make_row(self, value: object) -> SettingRow:
        row = SettingRow(self._name, self._field, value, make=self._make)
        row.changed.connect(self.changed)
        return row

    def _mark(self) -> None:
        self._as_settings.setVisible(not self._is_own)
        self._reset.setVisible(self._is_own)


class OwnSettings(Panel):
    """The card of a model's own settings, folded until the user opens it.

    It names no single setting: its rows follow from the settings model.

    Args:
        editors: Makers of editors, by setting, where the type of the value does not say enough.

    Signals:
        changed: The setting's name and its value for this model; None follows the app's settings.
    """

    changed = Signal(str, object)

    def __init__(
        self,
        own: Mapping[str, object],
        general: Mapping[str, object],
        editors: Mapping[str, EditorMaker],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "card", "ownSettings", margins=(2.5, 2, 2.5, 2), spacing=1.25, parent=parent
        )
        self.box.addWidget(Label(self.tr("Settings for this model"), "group"))
        # One line, whatever it names: the settings below do not move when one is changed.
        self._summary = ElidedLabel("", "muted", "ownSummary")
        self.box.addWidget(self._summary)
        self._editors = editors
        self._rows: dict[str, OwnSetting] = {}
        self._form = Panel("plain", "ownForm", margins=(0, 1, 0, 0), spacing=2)
        self._add(self.tr("Loading"), LOAD, general)
        self._add(self.tr("Its answers"), (*ANSWERING, *THINKING, *ENGINE), general)
        self._toggle = LabelledButton("sliders", "", "toggleOwnSettings")
        self._toggle.clicked.connect(lambda: self._unfold(self._form.isHidden()))
        self.box.addWidget(self._toggle, 0, Qt.AlignmentFlag.AlignLeft)
        self.box.addWidget(self._form)
        self._unfold(False)
        self.show_own(own)

    def show_own(self, own: Mapping[str, object]) -> None:
        """Show the model's own values, and name the settings that it has."""
        for name, row in self._rows.items():
            row.show_own(own.get(name))
        titles = [translated(fields()[name].title or name) for name in self._rows if name in own]
        if titles:
            text = self.tr("Changed: {titles}. Everything else follows the settings.")
            self._summary.setText(text.format(titles=", ".join(titles)))
        else:
            self._summary.setText(self.tr("Everything follows the settings."))

    def show_problem(self, name: str, error: UserError) -> None:
        """Show why a setting's value was refused."""
        if name in self._rows:
            self._rows[name].show_problem(f"{translated(error.why)} {translated(error.do)}")

    def _add(self, title: str, names: Sequence[str], general: Mapping[str, object]) -> None:
        heading = Label(title, "strong")
        heading.setContentsMargins(0, GRID if self._rows else 0, 0, 0)
        self._form.box.addWidget(heading)
        for name in names:
            make = self._editors.get(name)
            row = OwnSetting(name, fields()[name], general[name], make=make)
            row.changed.connect(self.changed)
            self._rows[name] = row
            self._form.box.addWidget(row)

    def _unfold(self, unfolded: bool) -> None:
        self._form.setVisible(unfolded)
        text = self.tr("Hide") if unfolded else self.tr("Change…")
        self._toggle.redraw("sliders", text)
