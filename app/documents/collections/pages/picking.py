"""Lets the user pick or drop files and folders, and shows the choice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QMimeData
from PySide6.QtWidgets import QWidget

from app.kit.widgets.action import UserAction
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.layouts import boxed, row
from app.kit.widgets.picking import FILES, FOLDER, pick
from app.kit.widgets.picture import Picture

_tr = QCoreApplication.translate
Picked = Callable[[list[Path]], object]
"""Called with the picked paths."""


def pick_files(parent: QWidget, picked: Picked) -> None:
    """Let the user pick one or more files."""
    pick(parent, "pickDocuments", _tr("documents", "Add files"), FILES, picked)


def pick_folder(parent: QWidget, picked: Picked) -> None:
    """Let the user pick a folder."""
    pick(parent, "pickFolder", _tr("documents", "Add a folder"), FOLDER, picked)


def dropped(data: QMimeData) -> list[Path]:
    """Return the local files and folders in a drag."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def path_line(name: str, icon: str, path: Path, remove: UserAction) -> QWidget:
    """Return the line of a path in a list.

    Args:
        name: The object name of the path.
        icon: The picture before it.
        path: The file or folder.
        remove: Takes it out of the list.
    """
    text = ElidedLabel(str(path), "", name)
    return boxed(row(Picture(icon, "muted", 16), (text, 1), remove.icon_button(16)))
