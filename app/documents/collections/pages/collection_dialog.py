"""The dialogs that create a collection with its files and folders, and that rename one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.base.language import in_full
from app.documents.collections.pages.picking import dropped, pick_files, pick_folder
from app.documents.collections.values import LONGEST_NAME
from app.kit.look.theme import GRID
from app.kit.widgets.dialog import Dialog
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.emptying import empty
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.picture import Picture
from engines.errors import UserError

_MOST_LINES = 8


class CollectionDialog(Dialog):
    """A dialog for a new collection; it stays open until `accept`, or shows a problem.

    Signals:
        made(name, paths): The user wants to create the collection.
    """

    made = Signal(str, object)

    def __init__(self, paths: Sequence[Path] = (), parent: QWidget | None = None) -> None:
        """Create the dialog.

        Args:
            paths: The first files and folders.
        """
        super().__init__("collectionDialog", width=520, parent=parent)
        self.set_title(self.tr("New collection"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAcceptDrops(True)
        self._paths: list[Path] = []
        self._suggested = ""
        self._name = QLineEdit()
        self._name.setObjectName("collectionName")
        self._name.setAccessibleName(self.tr("Name"))
        self._name.setPlaceholderText(self.tr("Such as “Contracts”"))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.textChanged.connect(self._check)
        self._name.returnPressed.connect(self._done)
        self._list = QVBoxLayout()
        self._list.setSpacing(GRID // 2)
        self._problem = Label("", "problem", name="collectionProblem", wrap=True)
        self._problem.hide()
        self._lay_out()
        self.take(paths)
        self._check()
        self._name.setFocus()

    def take(self, paths: Sequence[Path]) -> None:
        """Add files or folders; the first names the collection unless the user named it."""
        self._paths += [it for it in dict.fromkeys(paths) if it not in self._paths]
        if self._paths and self._name.text() == self._suggested:
            first = self._paths[0]
            self._suggested = (first.stem if first.is_file() else first.name)[:LONGEST_NAME]
            self._name.setText(self._suggested)
            self._name.selectAll()
        self._show_paths()

    def show_problem(self, error: UserError) -> None:
        self._problem.setText(in_full(error))
        self._problem.show()
        self._make.setEnabled(True)
        self._name.setFocus()
        self.fit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.take(dropped(event.mimeData()))

    def _lay_out(self) -> None:
        field = QVBoxLayout()
        field.setSpacing(4)
        field.addWidget(Label(self.tr("Name"), "strong"))
        field.addWidget(self._name)
        field.addWidget(self._problem)
        self.column.addLayout(field)
        content = QVBoxLayout()
        content.setSpacing(GRID)
        content.addWidget(Label(self.tr("Files and folders"), "strong"))
        content.addLayout(self._list)
        folder = LabelledButton("folder", self.tr("Add a folder…"), "newAddFolder")
        folder.clicked.connect(lambda: pick_folder(self, self.take))
        files = LabelledButton("file", self.tr("Add files…"), "newAddFiles")
        files.clicked.connect(lambda: pick_files(self, self.take))
        content.addWidget(FlowRow(folder, files))
        words = self.tr(
            "Hearth reads them where they are, and looks for changes by itself. It never moves, "
            "changes or deletes them."
        )
        content.addWidget(Label(words, "small", name="collectionPromise", wrap=True))
        self.column.addLayout(content)
        self.column.addStretch(1)
        leave = LabelledButton("close", self.tr("Cancel"), "leaveCollection")
        leave.clicked.connect(self.reject)
        self._make = LabelledButton(
            "check", self.tr("Make the collection"), "makeCollection", look="primary",
            tone="on_accent",
        )  # fmt: skip
        self._make.clicked.connect(self._done)
        for button in (folder, files, leave, self._make):
            button.setAutoDefault(False)
        self.add_buttons(leave, self._make)

    def _show_paths(self) -> None:
        empty(self._list)
        for number, path in enumerate(self._paths[:_MOST_LINES], start=1):
            self._list.addLayout(self._line(number, path))
        if len(self._paths) > _MOST_LINES:
            more = self.tr("And {count} more.").format(count=len(self._paths) - _MOST_LINES)
            self._list.addWidget(Label(more, "small", wrap=True))
        if self.isVisible():
            self.fit()

    def _line(self, number: int, path: Path) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(GRID)
        line.addWidget(Picture("file" if path.is_file() else "folder", "muted", 16))
        line.addWidget(ElidedLabel(str(path), "", f"newPath{number}"), 1)
        words = self.tr("Leave {name} out").format(name=path.name)
        button = IconButton("close", words, f"leaveOut{number}", size=16)
        button.clicked.connect(lambda: self._leave_out(path), Qt.ConnectionType.QueuedConnection)
        line.addWidget(button)
        return line

    def _leave_out(self, path: Path) -> None:
        self._paths.remove(path)
        self._show_paths()

    def _done(self) -> None:
        name = " ".join(self._name.text().split())
        if name:
            self._make.setEnabled(False)
            self.made.emit(name, tuple(self._paths))

    def _check(self) -> None:
        self._problem.hide()
        self._make.setEnabled(bool(self._name.text().strip()))


class RenameDialog(Dialog):
    """A dialog to rename a collection; it stays open until `accept`.

    Signals:
        named(str): The user entered a new name.
    """

    named = Signal(str)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__("renameCollection", width=420, parent=parent)
        self.set_title(self.tr("Rename the collection"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._name = QLineEdit(name)
        self._name.setObjectName("otherName")
        self._name.setAccessibleName(self.tr("Name"))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.selectAll()
        self._name.textChanged.connect(self._check)
        self._name.returnPressed.connect(self._done)
        self._problem = Label("", "problem", name="renameProblem", wrap=True)
        self._problem.hide()
        self.column.addWidget(self._name)
        self.column.addWidget(self._problem)
        self.column.addStretch(1)
        leave = LabelledButton("close", self.tr("Cancel"), "leaveRename")
        leave.clicked.connect(self.reject)
        self._save = LabelledButton(
            "check", self.tr("Save"), "saveRename", look="primary", tone="on_accent"
        )
        self._save.clicked.connect(self._done)
        for button in (leave, self._save):
            button.setAutoDefault(False)
        self.add_buttons(leave, self._save)
        self._name.setFocus()

    def show_problem(self, error: UserError) -> None:
        self._problem.setText(in_full(error))
        self._problem.show()
        self.fit()

    def _done(self) -> None:
        name = " ".join(self._name.text().split())
        if name:
            self.named.emit(name)

    def _check(self) -> None:
        self._problem.hide()
        self._save.setEnabled(bool(self._name.text().strip()))
