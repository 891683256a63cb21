"""Lets the user pick or drop files and folders, and shows the choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QMimeData
from PySide6.QtWidgets import QWidget

from app.kit.look.format import figure
from app.kit.look.theme import GRID
from app.kit.widgets.action import UserAction
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.keyed_column import KeyedColumn
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import boxed, column, row
from app.kit.widgets.picking import FILES, FOLDER, pick
from app.kit.widgets.picture import Picture

_tr = QCoreApplication.translate


def picking_buttons(
    parent: QWidget, names: tuple[str, str], picked: Callable[[list[Path]], object], look: str = ""
) -> tuple[LabelledButton, LabelledButton]:
    """Return the buttons with which the user picks a folder, and one or more files.

    Args:
        parent: The widget that the dialogs belong to.
        names: The object names of the buttons.
        picked: Called with the picked paths.
        look: The look of the first button in the style sheet.
    """
    title, words = _tr("documents", "Add a folder"), _tr("documents", "Add a folder…")
    folder = partial(pick, parent, "pickFolder", title, FOLDER, picked)
    first = UserAction(names[0], "folder", words, folder).button(look)
    title, words = _tr("documents", "Add files"), _tr("documents", "Add files…")
    files = partial(pick, parent, "pickDocuments", title, FILES, picked)
    return first, UserAction(names[1], "file", words, files).button()


def dropped(data: QMimeData) -> list[Path]:
    """Return the local files and folders in a drag."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


class PathList(QWidget):
    """The files and folders of a collection, each with a button that takes it out.

    Args:
        name: The beginning of the object names of the paths.
        remove_name: The beginning of the object names of the buttons.
        remove_words: The text of a button, with `{name}` in place of the name.
        remove: Takes a path out.
        icon: Returns the picture of a path.
        most: The largest number of paths that are shown.
    """

    def __init__(
        self,
        name: str,
        remove_name: str,
        remove_words: str,
        remove: Callable[[Path], object],
        *,
        icon: Callable[[Path], str],
        most: int,
    ) -> None:
        super().__init__()
        self._most = most

        def line(numbered: tuple[int, Path]) -> QWidget:
            number, path = numbered
            words = remove_words.format(name=path.name)
            take_out = UserAction(f"{remove_name}{number}", "close", words, partial(remove, path))
            text = ElidedLabel(str(path), "", f"{name}{number}")
            picture = Picture(icon(path), "muted", 16)
            return boxed(row(picture, (text, 1), take_out.icon_button(16)))

        self._lines = KeyedColumn(lambda keyed: str(keyed[1]), line, spacing=GRID // 2)
        self._more = Label("", "small", wrap=True)
        self.setLayout(column(self._lines.layout, self._more, spacing=GRID // 2))

    def show_paths(self, paths: Sequence[Path]) -> None:
        """Show the first paths, and the number of the others."""
        self._lines.show(enumerate(paths[: self._most], start=1))
        more = self.tr("And {count} more.").format(count=figure(len(paths) - self._most))
        self._more.show_text(more if len(paths) > self._most else "")
