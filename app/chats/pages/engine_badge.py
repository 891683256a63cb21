"""The badges that show clearly where a chat's text goes if another program answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture

if TYPE_CHECKING:
    from app.servers.presenters import Destination

_tr = QCoreApplication.translate


def headline(place: Destination) -> str:
    """Return the headline: whether text leaves this computer."""
    if place.leaves:
        return _tr("badge", "Text leaves this computer")
    return _tr("badge", "Another program answers")


def destination_text(place: Destination) -> str:
    """Return a sentence that names the server and its host."""
    if place.leaves:
        words = _tr(
            "badge", "What you send here, and this chat’s messages, go to {server} ({host})."
        )
    else:
        words = _tr("badge", "{server} answers ({host}); the text stays on this computer.")
    return words.format(server=place.server, host=place.host)


class EngineBadge(Panel):
    """The badge at the composer, in two lines; hidden while Hearth itself answers."""

    def __init__(self, name: str = "engineBadge", parent: QWidget | None = None) -> None:
        super().__init__("leaves", name, across=True, margins=(1.5, 1, 1.5, 1), parent=parent)
        self._pictures = (Picture("leaves", "warn", 24), Picture("server", "muted", 24))
        self._texts = QVBoxLayout()
        self._texts.setSpacing(1)
        self._headline = Label("", "strong", name=f"{name}What", wrap=True)
        self._where = Label("", "small", name=f"{name}Where", wrap=True)
        self._texts.addWidget(self._headline)
        self._texts.addWidget(self._where)
        for picture in self._pictures:
            self.box.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        self.box.addLayout(self._texts, 1)
        self.hide()

    def show_place(self, place: Destination | None) -> None:
        """Show the destination; None if Hearth itself answers."""
        if place is not None:
            self._headline.setText(headline(place))
            self._where.setText(destination_text(place))
            self.setAccessibleName(headline(place))
            self.setAccessibleDescription(destination_text(place))
            _show_style(self, place, self._pictures)
        self.setVisible(place is not None)


class HeaderBadge(Panel):
    """The badge in the window's header, with the same information in a few words."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "leaves", "headerBadge", across=True, margins=(1, 0.5, 1.25, 0.5), spacing=0.75,
            parent=parent,
        )  # fmt: skip
        self._pictures = (Picture("leaves", "warn", 18), Picture("server", "muted", 18))
        self._words = ElidedLabel("", "strong", "headerBadgeWords")
        for picture in self._pictures:
            self.box.addWidget(picture)
        self.box.addWidget(self._words, 1)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._place: Destination | None = None
        self._short = False
        self.hide()

    def show_place(self, place: Destination | None) -> None:
        """Show the destination; None if Hearth itself answers."""
        self._place = place
        if place is not None:
            self._words.setText(self._header_text(place))
            self.setAccessibleName(f"{headline(place)}. {destination_text(place)}")
            self.setToolTip(destination_text(place))
            _show_style(self, place, self._pictures)
        self.setVisible(place is not None)

    def set_short(self, short: bool) -> None:
        """Set whether to show a shorter text; the badge at the composer has all of it."""
        if short != self._short:
            self._short = short
            self.show_place(self._place)

    def _header_text(self, place: Destination) -> str:
        if not place.leaves:
            return place.server
        if self._short:
            return _tr("badge", "Goes to {server}").format(server=place.server)
        return _tr("badge", "{server}: text leaves this computer").format(server=place.server)


def _show_style(badge: Panel, place: Destination, pictures: tuple[Picture, Picture]) -> None:
    """Set the frame and the icon, so that they show the same as the words."""
    style = "leaves" if place.leaves else "fold"
    for picture, leaves in zip(pictures, (True, False), strict=True):
        picture.setVisible(place.leaves is leaves)
    if badge.property("look") != style:
        badge.setProperty("look", style)
        badge.style().unpolish(badge)
        badge.style().polish(badge)
