"""Above the messages: the words to find in this chat, how often they stand there, and the next."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from app.ui.look.format import figure
from app.ui.look.icons import icon
from app.ui.look.theme import theme_of
from app.ui.widgets.icon_button import IconButton
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel


class FindBar(Panel):
    """typed(words), step(1 or -1), closed(): what the user did."""

    typed = Signal(str)
    step = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            "findBar", "findBar", across=True, margins=(2, 1, 1.5, 1), spacing=0.5, parent=parent
        )
        self._edit = QLineEdit()
        self._edit.setObjectName("findWords")
        self._edit.setAccessibleName(self.tr("Find in this chat"))
        self._edit.setPlaceholderText(self.tr("Find in this chat"))
        self._edit.setClearButtonEnabled(True)
        self._edit.setMaximumWidth(420)
        self._edit.textChanged.connect(self.typed)
        self._icon = self._edit.addAction(
            icon("search", theme_of(self.palette()).muted, 16),
            QLineEdit.ActionPosition.LeadingPosition,
        )
        self._count = Label("", "small", name="findCount")
        self._count.setMinimumWidth(80)
        self._count.setAlignment(Qt.AlignmentFlag.AlignCenter)
        above = IconButton("above", self.tr("Previous"), "findPrevious", size=18)
        above.clicked.connect(lambda: self.step.emit(-1))
        below = IconButton("down", self.tr("Next"), "findNext", size=18)
        below.clicked.connect(lambda: self.step.emit(1))
        close = IconButton("close", self.tr("Close the search"), "findClose", size=16)
        close.clicked.connect(self.closed)
        self._steps = (above, below)
        self.box.addStretch(1)
        self.box.addWidget(self._edit, 3)
        self.box.addWidget(self._count)
        self._buttons = (above, below, close)
        for button in self._buttons:
            self.box.addWidget(button)
        self.show_count(0, 0, still=False)
        self.hide()

    @property
    def words(self) -> str:
        return self._edit.text()

    def focus(self) -> None:
        self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._edit.selectAll()

    def has_focus(self) -> bool:
        return self._edit.hasFocus() or any(button.hasFocus() for button in self._buttons)

    def show_count(self, number: int, count: int, *, still: bool) -> None:
        """The `number`th of `count`, from 1; still: there may be more."""
        if not self.words.strip():
            words = ""
        elif count:
            words = self.tr("{0} of {1}").format(figure(number), figure(count))
        else:
            words = "" if still else self.tr("Not found")
        self._count.setText(words)
        self._count.setAccessibleName(words)
        for button in self._steps:
            button.setEnabled(count > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            back = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            self.step.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._icon.setIcon(icon("search", theme_of(self.palette()).muted, 16))
