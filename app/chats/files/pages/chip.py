"""The chip of an attachment: a file, or a long pasted text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPixmap
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.kit.look.scale import scaled
from app.kit.look.theme import GRID, Tone
from app.kit.widgets.elided_label import ElidedLabel
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.kit.widgets.row_button import RowButton

WIDEST = 328
"""The maximum width of a chip in pixels; longer names end in “…”."""

THUMBNAIL = 36
"""The longer side of a small picture in pixels."""

_REMOVING = {Qt.Key.Key_Delete, Qt.Key.Key_Backspace}


class FileChip(Panel):
    """The chip of an attachment.

    Args:
        drawing: The icon.
        name: The name of the attachment.
        words: The text below the name.
        opens: The effect of pressing the chip, for the tooltip and screen readers.
        removes: The effect of the button, for the tooltip and screen readers.
        object_name: The object name.
        refused: Why the attachment cannot be sent, which makes the chip red; "" if it can.

    Signals:
        opened(): The user pressed the chip.
        removed(): The user pressed the button, or Delete while the chip had the focus.
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
        refused: str = "",
        parent: QWidget | None = None,
    ) -> None:
        look = "refusedChip" if refused else "fileChip"
        super().__init__(
            look, "fileChip", across=True, margins=(0, 0, 0.5, 0), spacing=0, parent=parent
        )
        self.name = name
        self.refused = refused
        self._opens = opens
        self._face = RowButton(object_name, "")
        self._face.setProperty("look", "face")
        self._face.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._face.clicked.connect(self.opened)
        self._face.installEventFilter(self)
        self._face.box.setContentsMargins(GRID, 5, 4, 5)
        self._face.box.setSpacing(GRID)
        tone: Tone = "danger" if refused else "muted"
        self._icon: QWidget = Picture(drawing, tone, 18 if refused else 22)
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
        self.set_text(words)

    def minimumSizeHint(self) -> QSize:
        """Return a width at which the beginning of the name stays readable."""
        return QSize(scaled(120), super().minimumSizeHint().height())

    @property
    def words(self) -> str:
        """The text below the name."""
        return " · ".join(filter(None, [self._words.text(), self._more.text()]))

    def set_text(self, words: str, more: str = "", removes: str = "") -> None:
        """Set the text below the name.

        Args:
            words: The first line.
            more: The second line; empty for none.
            removes: The new effect of the button; empty for the same as before.
        """
        for label, text in ((self._words, words), (self._more, more)):
            label.setText(text)
            label.setVisible(bool(text))
        spoken = self.refused or ", ".join(filter(None, [self.name, words, more]))
        self._face.setAccessibleName(spoken)
        self._face.setAccessibleDescription(self._opens)
        shown = [self.refused] if self.refused else [self.name, words, more]
        self._face.setToolTip("\n".join(filter(None, [*shown, self._opens])))
        if removes:
            self._remove.rename(removes)
        self.updateGeometry()

    def show_removal(self, shown: bool) -> None:
        """Show or hide the button that removes the attachment."""
        self._remove.setVisible(shown)

    def show_drawing(self, drawing: str) -> None:
        """Show another icon, unless a small picture is shown."""
        if isinstance(self._icon, Picture):
            self._icon.redraw(drawing)

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
        """Focus the chip."""
        self._face.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Emit `removed` on Delete or Backspace, if the attachment can be removed."""
        removes = isinstance(event, QKeyEvent) and event.key() in _REMOVING
        if removes and event.type() is QEvent.Type.KeyPress and not self._remove.isHidden():
            self.removed.emit()
            return True
        return super().eventFilter(watched, event)
