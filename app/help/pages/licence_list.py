"""The list of Hearth's parts with their licences, its search, and the text of one licence."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.base.language import translated
from app.help.values.about import LicenceText, Part
from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.fields import LineField
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton

_HEIGHT = 260
_DIALOG_WIDTH, _DIALOG_HEIGHT = 660, 560


class LicenceList(QWidget):
    """The list of parts and their licences.

    Signals:
        opened(Part): The user wants to see this part's licence.
    """

    opened = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._search = LineField(
            "searchLicences",
            self.tr("Search the licences"),
            hint=self.tr("Search by name or licence"),
            clears=True,
        )
        self._search.textChanged.connect(self._filter)
        self._list = QListWidget()
        self._list.setObjectName("licences")
        self._list.setAccessibleName(self.tr("Third-party licences"))
        self._list.setFixedHeight(scaled(_HEIGHT))
        self._list.setUniformItemSizes(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.itemClicked.connect(self._open)
        self._list.itemActivated.connect(self._open)
        self._no_match = Label(self.tr("No part matches. Try another word."), "muted", wrap=True)
        self._no_match.setObjectName("noLicence")
        self._no_match.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        for part in (self._search, self._list, self._no_match):
            column.addWidget(part)

    def show_parts(self, parts: Sequence[Part]) -> None:
        """List the parts, filtered by the words of the search."""
        self._list.clear()
        for part in parts:
            licence = part.licence or self.tr("licence not stated")
            item = QListWidgetItem(f"{part.name} {part.short_version}  ·  {licence}")
            item.setData(Qt.ItemDataRole.UserRole, part)
            self._list.addItem(item)
        self._filter(self._search.text())

    def _open(self, item: QListWidgetItem) -> None:
        self.opened.emit(item.data(Qt.ItemDataRole.UserRole))

    def _filter(self, words: str) -> None:
        """Show the parts whose name or licence contains all the words."""
        searched = words.lower().split()
        matches = 0
        for row in range(self._list.count()):
            item = self._list.item(row)
            fits = all(word in item.text().lower() for word in searched)
            item.setHidden(not fits)
            matches += fits
        self._list.setHidden(bool(searched) and not matches)
        self._no_match.setVisible(bool(searched) and not matches)


class LicenceDialog(Dialog):
    """The dialog with the texts of a part's licences and its notice."""

    def __init__(self, licence: LicenceText, parent: QWidget | None = None) -> None:
        super().__init__("licenceDialog", width=_DIALOG_WIDTH, height=_DIALOG_HEIGHT, parent=parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        part = licence.part
        self.set_title(f"{part.name} {part.short_version}")
        licence_name = part.licence or self.tr("licence not stated")
        self.column.addWidget(Label(licence_name, "strong", name="licenceName", wrap=True))
        notice = translated(licence.notice) or part.source
        if notice:
            self.column.addWidget(
                Label(notice, "muted", name="licenceNotice", wrap=True, selectable=True)
            )
        text = QPlainTextEdit(
            licence.joined or self.tr("This part contains no text of its licence.")
        )
        text.setObjectName("licenceText")
        text.setAccessibleName(self.tr("Text of the licence"))
        text.setReadOnly(True)
        text.setTabChangesFocus(True)
        self.column.addWidget(text, 1)
        close = LabelledButton("check", self.tr("Close"), "closeLicence")
        close.clicked.connect(self.accept)
        self.add_buttons(close)
        text.setFocus()
