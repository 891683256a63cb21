"""The page about Hearth: versions, folders, and the licences of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from app.base.language import translated
from app.help.pages.licence_list import LicenceDialog, LicenceList
from app.help.presenters import AboutHearth
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import at_start, column, row
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture

if TYPE_CHECKING:
    from app.help.values.about import About, LicenceText


class AboutPage(QWidget):
    """The page about Hearth.

    Signals:
        open_folder(path): The user wants to open a folder in the system's file manager.
        failed(UserError): The list of licences, or one of them, could not be read.
    """

    open_folder = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        hearth: AboutHearth,
        data_folder: Path,
        log_file: Path,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("section-about")
        self._hearth = hearth
        hearth.versions_read.connect(self._show)
        hearth.licence_read.connect(self._show_licence)
        hearth.failed.connect(self.failed)
        self._folders = (
            ("data", self.tr("Chats and settings"), data_folder),
            ("models", self.tr("Models"), data_folder / "models"),
            ("logs", self.tr("Logs"), log_file.parent),
        )
        self.words = " ".join(
            (self.tr("About"), self.tr("version licence folder data log copy details"))
        ).lower()
        self._version_lines = ""
        self._versions = QGridLayout()
        self._versions.setHorizontalSpacing(2 * GRID)
        self._versions.setVerticalSpacing(GRID // 2)
        self._versions.setColumnStretch(1, 1)
        self._licences = LicenceList()
        self._licences.opened.connect(hearth.read_licence)
        folders = [self._folder(name, title, path) for name, title, path in self._folders]
        layout = column(
            Label(self.tr("About"), "title"),
            self._hearth_card(),
            _heading(self.tr("Folders")),
            *folders,
            _heading(self.tr("Third-party licences")),
            self._licences,
        )
        self.setLayout(layout)

    def showEvent(self, event: QShowEvent) -> None:
        """Read the versions and parts when the page is shown first."""
        super().showEvent(event)
        if not self._version_lines:
            self._hearth.refresh()

    def _hearth_card(self) -> Panel:
        """Return the card with Hearth's name, licence and versions, and the button to copy them."""
        licence = Label(
            self.tr("Hearth and its guide are under the Apache Licence 2.0."), "muted", wrap=True
        )
        name = row(Picture("flame", "accent_text", 32), Label("Hearth", "title"), 1, spacing=12)
        copy = LabelledButton("copy", self.tr("Copy details"), "copyDetails")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._details()))
        return Panel(
            "card", "aboutHearth", name, licence, self._versions, at_start(copy),
            margins=(2.5, 2, 2.5, 2), spacing=1.5,
        )  # fmt: skip

    def _show(self, about: About) -> None:
        versions = [(translated(name), version) for name, version in about.versions if version]
        self._version_lines = "\n".join(f"{name}: {version}" for name, version in versions)
        empty(self._versions)
        for line, (name, version) in enumerate(versions):
            self._versions.addWidget(Label(name, "small"), line, 0, Qt.AlignmentFlag.AlignTop)
            self._versions.addWidget(Label(version, wrap=True, selectable=True), line, 1)
        self._licences.show_parts(about.parts)

    def _show_licence(self, licence: LicenceText) -> None:
        LicenceDialog(licence, self.window()).open()

    def _folder(self, name: str, title: str, path: Path) -> QHBoxLayout:
        shown = ElidedLabel(str(path), "small", f"{name}FolderPath")
        button = LabelledButton("folder", self.tr("Open"), f"open-{name}", look="link")
        button.setAccessibleName(self.tr("Open the folder “{title}”").format(title=title))
        button.clicked.connect(lambda: self.open_folder.emit(path))
        return row((column(Label(title), shown, spacing=2), 1), button)

    def _details(self) -> str:
        """Return the details for a report: the versions and the folders."""
        return "\n".join((self._version_lines, *_lines(self._folders)))


def _lines(folders: Sequence[tuple[str, str, Path]]) -> list[str]:
    return [f"{title}: {path}" for _, title, path in folders]


def _heading(text: str) -> Label:
    heading = Label(text, "group")
    heading.setContentsMargins(0, 2 * GRID, 0, 0)
    return heading
