"""Lets the user pick or drop files and folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QMimeData
from PySide6.QtWidgets import QFileDialog, QWidget

Picked = Callable[[list[Path]], object]
"""Called with the picked paths."""


def pick_files(parent: QWidget, picked: Picked) -> None:
    """Let the user pick one or more files."""
    _open(parent, _tr("Add files"), QFileDialog.FileMode.ExistingFiles, "pickDocuments", picked)


def pick_folder(parent: QWidget, picked: Picked) -> None:
    """Let the user pick a folder."""
    _open(parent, _tr("Add a folder"), QFileDialog.FileMode.Directory, "pickFolder", picked)


def dropped(data: QMimeData) -> list[Path]:
    """Return the local files and folders in a drag."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def _tr(text: str) -> str:
    return QCoreApplication.translate("documents", text)


def _open(
    parent: QWidget, title: str, mode: QFileDialog.FileMode, name: str, picked: Picked
) -> None:
    dialog = QFileDialog(parent, title, str(Path.home()))
    dialog.setObjectName(name)
    dialog.setFileMode(mode)
    dialog.filesSelected.connect(lambda paths: picked([Path(it) for it in paths]))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
