"""The name of a model, which can be changed where it stands."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.ui.look.theme import GRID
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label


class Title(QWidget):
    """renamed(name): Enter keeps a new name, Escape the old one."""

    renamed = Signal(str)

    def __init__(self, name: str, *, fixed: bool, parent: QWidget | None = None) -> None:
        """fixed: the name cannot be changed."""
        super().__init__(parent)
        self.setObjectName("modelTitle")
        self._name = name
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        self._label = Label(name, "title", name="detailsName", wrap=True)
        self._edit = _Field(name)
        self._edit.hide()
        self._edit.returnPressed.connect(self._keep)
        self._edit.given_up.connect(self._leave)
        self._pencil = IconButton("pencil", self.tr("Rename"), "renameModel", size=18)
        self._pencil.clicked.connect(self._begin)
        self._pencil.setVisible(not fixed)
        row.addWidget(self._label)
        row.addWidget(self._edit, 1)
        row.addWidget(self._pencil)
        row.addStretch(0)

    def show_name(self, name: str) -> None:
        self._name = name
        self._label.setText(name)
        self._leave()

    def _begin(self) -> None:
        self._edit.setText(self._name)
        self._label.hide()
        self._pencil.hide()
        self._edit.show()
        self._edit.setFocus()
        self._edit.selectAll()

    def _keep(self) -> None:
        name = self._edit.text().strip()
        self._leave()
        if name != self._name:
            self.renamed.emit(name)

    def _leave(self) -> None:
        if self._edit.isHidden():
            return
        self._edit.hide()
        self._label.show()
        self._pencil.show()
        self._pencil.setFocus()


class _Field(QLineEdit):
    given_up = Signal()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setObjectName("newName")
        self.setAccessibleName(self.tr("New name"))

    def event(self, event: QEvent) -> bool:
        """Escape is a shortcut of the window everywhere else."""
        if (
            event.type() is QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.given_up.emit()
            return
        super().keyPressEvent(event)
