"""The system's dialogs for choosing files and folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

FILE = QFileDialog.FileMode.ExistingFile
FILES = QFileDialog.FileMode.ExistingFiles
FOLDER = QFileDialog.FileMode.Directory


def pick(
    parent: QWidget,
    name: str,
    title: str,
    mode: QFileDialog.FileMode,
    picked: Callable[[list[Path]], object],
    *,
    filters: Sequence[str] = (),
    start: Path | None = None,
) -> None:
    """Let the user choose files or a folder.

    Args:
        parent: The widget that asks.
        name: The object name.
        title: The title.
        mode: `FILE`, `FILES` or `FOLDER`.
        picked: Called with the chosen paths.
        filters: The kinds of files to show, such as "Prompts (*.json)".
        start: The folder or file to begin with; None for the user's home.
    """
    dialog = _dialog(parent, name, title, filters, start)
    dialog.setFileMode(mode)
    dialog.filesSelected.connect(lambda paths: picked([Path(path) for path in paths]))
    dialog.open()


def pick_target(
    parent: QWidget,
    name: str,
    title: str,
    suggested: str,
    picked: Callable[[Path], object],
    *,
    filters: Sequence[str] = (),
) -> None:
    """Let the user choose the file to write.

    Args:
        parent: The widget that asks.
        name: The object name.
        title: The title.
        suggested: The file name to begin with.
        picked: Called with the chosen path.
        filters: As for `pick`; with them, a name without a suffix gets that of `suggested`.
    """
    dialog = _dialog(parent, name, title, filters, None)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    if filters:
        dialog.setDefaultSuffix(Path(suggested).suffix)
    dialog.selectFile(suggested)
    dialog.fileSelected.connect(lambda path: picked(Path(path)))
    dialog.open()


def _dialog(
    parent: QWidget, name: str, title: str, filters: Sequence[str], start: Path | None
) -> QFileDialog:
    dialog = QFileDialog(parent, title, str(start or Path.home()))
    dialog.setObjectName(name)
    if filters:
        dialog.setNameFilters(list(filters))
    dialog.finished.connect(dialog.deleteLater)
    return dialog
