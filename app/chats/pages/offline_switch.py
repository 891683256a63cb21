"""The switch in the window's header that allows or forbids connections."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from app.kit.widgets.labelled_button import LabelledButton


class OfflineSwitch(LabelledButton):
    """The offline switch, checked while Hearth is offline; its text says the same."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("online", "", "offlineSwitch", look="quiet", parent=parent)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setIconSize(QSize(16, 16))
        self.show_state(offline=False)

    def show_state(self, *, offline: bool) -> None:
        """Show whether Hearth is offline."""
        self.setChecked(offline)
        if offline:
            self.redraw("offline", self.tr("Offline"))
            tip = self.tr(
                "Hearth is offline: no connection leaves this computer. Press to go online."
            )
        else:
            self.redraw("online", self.tr("Online"))
            tip = self.tr(
                "Hearth connects only when you search for models, download something, or "
                "write to a server that you added. Press to stay offline."
            )
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)
