"""A chip for something that goes with a message: a file, or a long text that was pasted."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPixmap
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import GRID
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.kit.widgets.row_button import RowButton

WIDEST = 328
"""Pixels of a chip; longer names end in “…”."""

THUMBNAIL = 36
"""Pixels; the longer side of a small picture."""

_REMOVING = {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}


class FileChip(Panel):
    """opened(): it was pressed. removed(): its button was, or Delete while it has the focus.

    name: what it is called; words: what is said of it below. opens: what pressing it does, for
    those who do not see it. removes: what its button does.
    """

    opened = Signal()
    removed = Signal()

    def __init__(
        self,
        drawing: str,
        name: str,
        words: str,
        *,
        opens: str,
        removes: str,
        object_name: str = "openFile",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "fileChip", "fileChip", across=True, margins=(0, 0, 0.5, 0), spacing=0, parent=parent
        )
        self.name = name
        self._opens = opens
        self._face = RowButton(object_name, "")
        self._face.setProperty("look", "face")
        self._face.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._face.clicked.connect(self.opened)
        self._face.installEventFilter(self)
        self._face.box.setContentsMargins(GRID, 5, 4, 5)
        self._face.box.setSpacing(GRID)
        self._icon: QWidget = Picture(drawing, "muted", 22)
        self._face.box.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        texts = QVBoxLayout()
        texts.setSpacing(0)
        self._name = ElidedLabel(name, "strong", "fileName")
        self._words = ElidedLabel(words, "small", "fileWords")
        self._more = ElidedLabel("", "small", "fileTakes")
        for line in (self._name, self._words, self._more):
            texts.addWidget(line)
        self._face.box.addLayout(texts, 1)
        self._remove = IconButton("close", removes, "removeFile", size=16)
        self._remove.clicked.connect(self.removed)
        self.box.addWidget(self._face, 1)
        self.box.addWidget(self._remove, 0, Qt.AlignmentFlag.AlignVCenter)
        self.setMaximumWidth(WIDEST)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._face.let_clicks_through()
        self.say(words)

    def minimumSizeHint(self) -> QSize:
        return QSize(scaled(120), super().minimumSizeHint().height())

    @property
    def words(self) -> str:
        """What is said of it."""
        return " · ".join(filter(None, [self._words.text(), self._more.text()]))

    def say(self, words: str, more: str = "", removes: str = "") -> None:
        """Say something else of it, in one line or two.

        removes: what its button does now, if not what it did.
        """
        for label, text in ((self._words, words), (self._more, more)):
            label.setText(text)
            label.setVisible(bool(text))
        self._face.setAccessibleName(", ".join(filter(None, [self.name, words, more])))
        self._face.setAccessibleDescription(self._opens)
        self._face.setToolTip("\n".join(filter(None, [self.name, words, more, self._opens])))
        if removes:
            self._remove.rename(removes)
        self.updateGeometry()

    def show_removal(self, shown: bool) -> None:
        """Whether it can be removed."""
        self._remove.setVisible(shown)

    def show_picture(self, picture: QPixmap) -> None:
        """Show a small picture in place of the icon."""
        label = QLabel()
        label.setObjectName("fileThumbnail")
        label.setPixmap(picture)
        label.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._face.box.replaceWidget(self._icon, label)
        self._icon.hide()
        self._icon.deleteLater()
        self._icon = label
        self.updateGeometry()

    def focus(self) -> None:
        self._face.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        removes = isinstance(event, QKeyEvent) and event.key() in _REMOVING
        if removes and event.type() is QEvent.Type.KeyPress and not self._remove.isHidden():
            self.removed.emit()
            return True
        return super().eventFilter(watched, event)
