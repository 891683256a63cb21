"""The page about Hearth: versions, folders, and the licences of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.base.language import translated
from app.help.pages.licence_list import LicenceDialog, LicenceList
from app.help.presenters import AboutHearth
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton

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
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GRID)
        self._column.addWidget(Label(self.tr("About"), "title"))
        self._column.addWidget(
            Label(
                self.tr("Hearth and its guide are under the Apache Licence 2.0."),
                wrap=True,
            )
        )
        self._versions = Label("", name="versions", wrap=True, selectable=True)
        self._column.addWidget(self._versions)
        copy = LabelledButton("copy", self.tr("Copy details"), "copyDetails")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._details()))
        self._column.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(_heading(self.tr("Folders")))
        for name, title, path in self._folders:
            self._column.addLayout(self._folder(name, title, path))
        self._column.addWidget(_heading(self.tr("Third-party licences")))
        self._licences = LicenceList()
        self._licences.opened.connect(hearth.read_licence)
        self._column.addWidget(self._licences)

    def showEvent(self, event: QShowEvent) -> None:
        """Read the versions and parts when the page is shown first."""
        super().showEvent(event)
        if not self._version_lines:
            self._hearth.refresh()

    def _show(self, about: About) -> None:
        self._version_lines = "\n".join(
            f"{translated(name)}: {version}" for name, version in about.versions if version
        )
        self._versions.setText(self._version_lines)
        self._licences.show_parts(about.parts)

    def _show_licence(self, licence: LicenceText) -> None:
        LicenceDialog(licence, self.window()).open()

    def _folder(self, name: str, title: str, path: Path) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(title))
        texts.addWidget(ElidedLabel(str(path), "small", f"{name}FolderPath"))
        row.addLayout(texts, 1)
        button = LabelledButton("folder", self.tr("Open"), f"open-{name}")
        button.setAccessibleName(self.tr("Open the folder “{title}”").format(title=title))
        button.clicked.connect(lambda: self.open_folder.emit(path))
        row.addWidget(button)
        return row

    def _details(self) -> str:
        """Return the details for a report: the versions and the folders."""
        return "\n".join((self._version_lines, *_lines(self._folders)))


def _lines(folders: Sequence[tuple[str, str, Path]]) -> list[str]:
    return [f"{title}: {path}" for _, title, path in folders]


def _heading(text: str) -> Label:
    heading = Label(text, "group")
    heading.setContentsMargins(0, 2 * GRID, 0, 0)
    return heading
