"""A field for the path of a file, with a button that picks it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QWidget

from app.core.home import from_home
from app.ui.look.theme import GRID
from app.ui.widgets.icon_button import IconButton


class FileField(QWidget):
    """changed(): it names another file, or none."""

    changed = Signal()

    def __init__(
        self, name: str, title: str, hint: str, path: Path | None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._title = title
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        self._line = QLineEdit(str(path) if path is not None else "")
        self._line.setObjectName(name)
        self._line.setAccessibleName(title)
        self._line.setPlaceholderText(hint)
        self._line.setClearButtonEnabled(True)
        self._line.textChanged.connect(self.changed)
        pick = IconButton("folder", self.tr("Choose a file for “{0}”").format(title), f"{name}Pick")
        pick.clicked.connect(self._pick)
        row.addWidget(self._line, 1)
        row.addWidget(pick)
        self.setFocusProxy(self._line)

    @property
    def path(self) -> Path | None:
        text = self._line.text().strip()
        return from_home(text) if text else None

    def _pick(self) -> None:
        dialog = QFileDialog(
            self.window(),
            self._title,
            str(Path.home()),
            self.tr("Certificates (*.pem *.crt *.cer)"),
        )
        dialog.setObjectName("pickCertificate")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._line.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
