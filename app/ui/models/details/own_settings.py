"""The settings of one model: as the app's, until something is set for it alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.core.settings.fields import fields
from app.core.settings.models import LOAD, SAMPLING
from app.ui.look.language import translated
from app.ui.look.theme import GRID
from app.ui.models.details.own_setting import OwnSetting
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel
from engines.errors import UserError


class OwnSettings(Panel):
    """changed(name, value): None leaves it to the settings of the app. Folded until it is opened.

    It knows no setting by name: all of it follows from the settings model.
    """

    changed = Signal(str, object)

    def __init__(
        self,
        own: Mapping[str, object],
        general: Mapping[str, object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "card", "ownSettings", margins=(2.5, 2, 2.5, 2), spacing=1.25, parent=parent
        )
        self.box.addWidget(Label(self.tr("Settings for this model"), "group"))
        self._summary = Label("", "muted", name="ownSummary", wrap=True)
        self.box.addWidget(self._summary)
        self._rows: dict[str, OwnSetting] = {}
        self._form = Panel("plain", "ownForm", margins=(0, 1, 0, 0), spacing=2)
        self._add(self.tr("Loading it"), LOAD, general)
        self._form.box.addSpacing(GRID)
        self._add(self.tr("Its answers"), SAMPLING, general)
        self._toggle = LabelledButton("sliders", "", "toggleOwnSettings")
        self._toggle.clicked.connect(lambda: self._unfold(self._form.isHidden()))
        self.box.addWidget(self._toggle, 0, Qt.AlignmentFlag.AlignLeft)
        self.box.addWidget(self._form)
        self._unfold(False)
        self.show_own(own)

    def show_own(self, own: Mapping[str, object]) -> None:
        for name, row in self._rows.items():
            row.show_own(own.get(name))
        titles = [translated(fields()[name].title or name) for name in self._rows if name in own]
        if titles:
            text = self.tr("Of its own: {0}. Everything else is as in the settings.")
            self._summary.setText(text.format(", ".join(titles)))
        else:
            self._summary.setText(self.tr("Everything is as in the settings."))

    def show_problem(self, name: str, error: UserError) -> None:
        if name in self._rows:
            self._rows[name].show_problem(f"{translated(error.why)} {translated(error.do)}")

    def _add(self, title: str, names: Sequence[str], general: Mapping[str, object]) -> None:
        self._form.box.addWidget(Label(title, "strong"))
        for name in names:
            row = OwnSetting(name, fields()[name], general[name])
            row.changed.connect(self.changed)
            self._rows[name] = row
            self._form.box.addWidget(row)

    def _unfold(self, unfolded: bool) -> None:
        self._form.setVisible(unfolded)
        text = self.tr("Fold them up") if unfolded else self.tr("Change them…")
        self._toggle.redraw("sliders", text)
