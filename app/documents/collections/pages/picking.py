"""Files and folders that the user picks or drops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QMimeData
from PySide6.QtWidgets import QFileDialog, QWidget

Picked = Callable[[list[Path]], object]


def pick_files(parent: QWidget, picked: Picked) -> None:
    """Let the user pick files, of which there may be several."""
    _open(parent, _tr("Add files"), QFileDialog.FileMode.ExistingFiles, "pickDocuments", picked)


def pick_folder(parent: QWidget, picked: Picked) -> None:
    """Let the user pick a folder."""
    _open(parent, _tr("Add a folder"), QFileDialog.FileMode.Directory, "pickFolder", picked)


def dropped(data: QMimeData) -> list[Path]:
    """Return the files and folders among what is dragged."""
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
