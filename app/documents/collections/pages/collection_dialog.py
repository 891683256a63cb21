"""The dialog that creates a collection with its files and folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from app.documents.collections.pages.picking import PathList, dropped, picking_buttons
from app.documents.collections.values import LONGEST_NAME
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import LineField
from app.kit.widgets.flow import FlowRow
from app.kit.widgets.form import FormDialog, field
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import column

_MOST_LINES = 8


class CollectionDialog(FormDialog):
    """A dialog for a new collection; it stays open until `finish`, or shows a problem.

    Args:
        paths: The first files and folders.
        make: Called with the dialog when the user wants to create the collection.
        parent: The window.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        make: Callable[[CollectionDialog], object],
        parent: QWidget,
    ) -> None:
        super().__init__(
            "collectionDialog",
            self.tr("New collection"),
            UserAction(
                "makeCollection", "check", self.tr("Make the collection"), lambda: make(self)
            ),
            "leaveCollection",
            problem="collectionProblem",
            width=520,
            parent=parent,
        )
        self.setAcceptDrops(True)
        self.paths: list[Path] = []
        self._suggested = ""
        name, hint = self.tr("Name"), self.tr("Such as “Contracts”")
        self.name = LineField("collectionName", name, hint=hint, longest=LONGEST_NAME)
        self.name.textChanged.connect(self.problem.hide)
        self._list = PathList(
            "newPath", "leaveOut", self.tr("Leave {name} out"), self._leave_out,
            icon=lambda path: "file" if path.is_file() else "folder", most=_MOST_LINES,
        )  # fmt: skip
        words = self.tr(
            "Hearth reads them where they are, and looks for changes by itself. It never moves, "
            "changes or deletes them."
        )
        content = column(
            Label(self.tr("Files and folders"), "strong"),
            self._list,
            FlowRow(*picking_buttons(self, ("newAddFolder", "newAddFiles"), self.add_paths)),
            Label(words, "small", name="collectionPromise", wrap=True),
        )
        self.lay_out(field(name, self.name, self.problem), content, first=self.name)
        self.add_paths(paths)
        self.save_if(lambda: self.name.line, self.name.textChanged)

    def add_paths(self, paths: Sequence[Path]) -> None:
        """Add files or folders; the first names the collection unless the user named it."""
        self.paths += [path for path in dict.fromkeys(paths) if path not in self.paths]
        if self.paths and self.name.text() == self._suggested:
            first = self.paths[0]
            self._suggested = (first.stem if first.is_file() else first.name)[:LONGEST_NAME]
            self.name.setText(self._suggested)
            self.name.selectAll()
        self._show_paths()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept files and folders."""
        if dropped(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Add the dropped files and folders to the list."""
        event.acceptProposedAction()
        self.add_paths(dropped(event.mimeData()))

    def _show_paths(self) -> None:
        self._list.show_paths(self.paths)
        if self.isVisible():
            self.fit()

    def _leave_out(self, path: Path) -> None:
        self.paths.remove(path)
        self._show_paths()
