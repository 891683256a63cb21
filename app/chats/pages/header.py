"""The header above the transcript: the chat's title, the model, and the offline switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.labelled_button import LabelledButton
from app.models.library.pages.model_button import ModelButton

if TYPE_CHECKING:
    from app.chats.pages.engine_badge import HeaderBadge
    from app.chats.pages.exposed_badge import ExposedBadge
    from app.servers.presenters import Destination

_NARROW = 640
"""The width in pixels below which the badges have shorter texts."""


class Header(QWidget):
    """The header above the transcript.

    Attributes:
        model: The button that opens the model picker; the owner of the models connects it.

    Signals:
        show_sidebar(): The user wants to see the sidebar.
        toggle_offline(): The user wants Hearth offline, or online again.
        chat_settings(): The user wants to show or hide the chat's settings.
        exposed(): The user pressed the badge that others can use the models.
    """

    show_sidebar = Signal()
    toggle_offline = Signal()
    chat_settings = Signal()
    exposed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("header")
        row = self._row = QHBoxLayout(self)
        row.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        row.setSpacing(GRID)
        self._sidebar = IconButton("panel", self.tr("Show the sidebar"), "showSidebar", parent=self)
        self._sidebar.clicked.connect(self.show_sidebar)
        self._sidebar.hide()
        self._title = ElidedLabel("", "strong", "chatTitle", self)
        self._title.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._offline = OfflineSwitch(self)
        self._offline.clicked.connect(self.toggle_offline)
        self.model = ModelButton(self)
        self._badge: HeaderBadge | None = None
        self._exposed: ExposedBadge | None = None
        self._settings = IconButton(
            "sliders", self.tr("Chat settings"), "toggleChatSettings", parent=self
        )
        self._settings.clicked.connect(self.chat_settings)
        for widget in (self._sidebar, self._title, self._offline, self.model, self._settings):
            row.addWidget(widget)

    def set_title(self, title: str) -> None:
        """Show the title of the chat."""
        self._title.setText(title)

    def set_first(self, first: bool) -> None:
        """Set whether the first screen is shown, on which there is no chat to speak of."""
        self.model.setHidden(first)
        self._settings.setHidden(first)

    def set_offline(self, offline: bool) -> None:
        """Show whether Hearth is offline."""
        self._offline.show_state(offline=offline)

    def set_sidebar_hidden(self, hidden: bool) -> None:
        """Show the button that opens the sidebar only while it is hidden."""
        self._sidebar.setVisible(hidden)

    def show_place(self, place: Destination | None) -> None:
        """Show where the chat's text goes; None if Hearth itself answers."""
        if self._badge is None and place is not None:
            from app.chats.pages.engine_badge import HeaderBadge

            self._badge = HeaderBadge(self)
            self._row.insertWidget(self._row.indexOf(self._offline), self._badge)
            self._fit(self.width())
        if self._badge is not None:
            self._badge.show_place(place)

    def show_exposed(self, exposed: bool, *, encrypted: bool) -> None:
        """Show whether other computers can use the models."""
        if self._exposed is None and exposed:
            from app.chats.pages.exposed_badge import ExposedBadge

            self._exposed = ExposedBadge(self)
            self._exposed.clicked.connect(self.exposed)
            self._row.insertWidget(self._row.indexOf(self._offline), self._exposed)
            self._fit(self.width())
        if self._exposed is not None:
            self._exposed.setVisible(exposed)
            self._exposed.show_state(encrypted=encrypted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show shorter badges in a narrow window."""
        super().resizeEvent(event)
        self._fit(event.size().width())

    def _fit(self, width: int) -> None:
        if self._badge is not None:
            self._badge.set_short(width < scaled(_NARROW))
        if self._exposed is not None:
            self._exposed.set_short(short=width < scaled(_NARROW))


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
        self.setAccessibleName(self.tr("Stay offline"))  # which is checked, or not
        self.setToolTip(tip)
        self.setAccessibleDescription(tip)
