"""The prompts that fit what is being typed, over the place where it is typed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.core.chats.prompts import SavedPrompt
from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.panel import Panel

_MOST_ROWS = 8
_ROW = 34


class PromptPopup(Panel):
    """chosen(id): with Enter or a click. The keys are given to it by who has the focus."""

    chosen = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__("toast", "promptPopup", margins=(1, 1, 1, 1), spacing=0.5, parent=window)
        self._list = QListWidget()
        self._list.setObjectName("promptChoices")
        self._list.setAccessibleName(self.tr("Prompts"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.itemClicked.connect(self._choose)
        self._hint = Label("", "small", name="promptHint", wrap=True)
        self._hint.setContentsMargins(GRID, 2, GRID, 2)
        self.box.addWidget(self._list)
        self.box.addWidget(self._hint)
        self.hide()

    def show_prompts(self, prompts: Sequence[SavedPrompt]) -> None:
        """The first of them is marked."""
        self._list.clear()
        for prompt in prompts:
            line = " ".join(prompt.text.split())
            item = QListWidgetItem(f"{prompt.name}   —   {line[:80]}" if line else prompt.name)
            item.setData(Qt.ItemDataRole.UserRole, prompt.id)
            item.setSizeHint(QSize(0, _ROW))
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._list.setVisible(bool(prompts))
        self._list.setFixedHeight(_ROW * min(len(prompts), _MOST_ROWS) + 4)
        if prompts:
            self._hint.setText(self.tr("Enter takes it, Esc leaves the list"))
        else:
            self._hint.setText(
                self.tr("No prompts yet. Write one on the page “Assistants”, under “Prompts”.")
            )

    def place_above(self, field: QWidget) -> None:
        """As wide as this part of the window, with its lower edge at the upper one of that."""
        window = self.parentWidget()
        if window is None:
            return
        corner = field.mapTo(window, QPoint(0, 0))
        self.setFixedWidth(field.width())
        self.box.activate()
        height = self.sizeHint().height()
        self.setGeometry(corner.x(), max(0, corner.y() - height - GRID), field.width(), height)
        self.show()
        self.raise_()

    def step(self, by: int) -> None:
        count = self._list.count()
        if count:
            self._list.setCurrentRow((self._list.currentRow() + by) % count)

    def take(self) -> bool:
        """Choose what is marked; False if nothing is."""
        item = self._list.currentItem()
        if item is not None:
            self._choose(item)
        return item is not None

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))
