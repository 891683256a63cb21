"""Inserts prompts into a message: after / at its beginning, or with a shortcut anywhere in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QEvent, QLocale, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app.assistants.values.prompts import SavedPrompt
from app.kit.look.theme import GRID
from app.kit.timer import timer
from app.kit.widgets.label import Label
from app.kit.widgets.panel import Panel

if TYPE_CHECKING:
    from app.assistants.presenters.prompts import Prompts
    from app.assistants.values.prompts import SavedPrompt


_MOST_ROWS = 8
_ROW = 34


class PromptPopup(Panel):
    """The list of prompts above the message field, which keeps the focus and passes on its keys.

    Signals:
        chosen(id): The user chose a prompt with Enter or a click.
    """

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
        """Show prompts, and select the first one."""
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
            self._hint.setText(self.tr("Enter inserts it, Esc closes the list"))
        else:
            self._hint.setText(
                self.tr("No prompts yet. Write one on the page “Assistants”, under “Prompts”.")
            )

    def place_above(self, field: QWidget) -> None:
        """Place the popup above a field, with the field's width."""
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
        """Move the selection; wrap around at both ends."""
        count = self._list.count()
        if count:
            self._list.setCurrentRow((self._list.currentRow() + by) % count)

    def take(self) -> bool:
        """Choose the selected prompt; return False if none is selected."""
        item = self._list.currentItem()
        if item is not None:
            self._choose(item)
        return item is not None

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))


_TAKES = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab}
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_LEAVES = Qt.Key.Key_Escape


class PromptUse(QObject):
    """The insertion of prompts into a message, which the user can undo.

    Args:
        messages: The widget in which the user can select text for {{selection}}.
    """

    def __init__(self, prompts: Prompts, edit: QPlainTextEdit, messages: QWidget) -> None:
        super().__init__(edit)
        self._prompts = prompts
        self._edit = edit
        self._messages = messages
        self._from: int | None = None
        self._left: str | None = None
        self._selected = ""
        self._popup: PromptPopup | None = None
        self._place = timer(self, 0, self._put_in_place)
        edit.installEventFilter(self)
        edit.textChanged.connect(self._look)
        edit.cursorPositionChanged.connect(self._look)

    def open(self) -> None:
        """Open the list at the cursor; text selected there becomes {{selection}}."""
        cursor = self._edit.textCursor()
        self._selected = _plain(cursor)
        self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._from = cursor.selectionStart()
        cursor.insertText("/")
        self._look()

    def fill(self, menu: QMenu) -> None:
        """Add *Insert a prompt…* to the composer's menu."""
        action = menu.addAction(self.tr("Insert a prompt…"))
        action.setObjectName("insertPrompt")
        action.triggered.connect(lambda: self.open())  # noqa: PLW0108 - takes no state

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.FocusOut:
            self._close()
        elif event.type() is QEvent.Type.Resize and self._popup is not None:
            self._place.start()
        if self._popup is not None and isinstance(event, QKeyEvent):
            if event.type() is QEvent.Type.ShortcutOverride:
                return self._claim(event)
            if event.type() is QEvent.Type.KeyPress:
                return self._key(Qt.Key(event.key()), self._popup)
        return super().eventFilter(watched, event)

    def _claim(self, event: QKeyEvent) -> bool:
        """Keep the list's keys, such as Esc, from triggering shortcuts of the window."""
        claimed = event.key() in _TAKES or event.key() in _STEPS or event.key() == _LEAVES
        event.setAccepted(claimed)
        return claimed

    def _key(self, key: Qt.Key, popup: PromptPopup) -> bool:
        if key == _LEAVES:
            self._close()
            self._left = self._edit.toPlainText()
            return True
        if key in _STEPS:
            popup.step(_STEPS[key])
            return True
        return key in _TAKES and popup.take()

    def _look(self) -> None:
        """Update the list from the text after the slash."""
        text = self._edit.toPlainText()
        if text != self._left:
            self._left = None
        if self._from is None and text == "/" and self._left is None:
            self._from = 0
        called = self._called(text)
        if called is None:
            self._close()
            return
        from app.assistants.values.prompts import matching

        found = matching(self._prompts.all(), called)
        if not found and called:
            self._hide()
            return
        if self._popup is None:
            self._popup = PromptPopup(self._edit.window())
            self._popup.chosen.connect(self._use, Qt.ConnectionType.QueuedConnection)
        self._popup.show_prompts(found)
        self._put_in_place()

    def _put_in_place(self) -> None:
        if self._popup is not None:
            self._popup.place_above(self._edit.parentWidget() or self._edit)

    def _called(self, text: str) -> str | None:
        """Return the text between the slash and the cursor; None if the list is not wanted."""
        at = self._edit.textCursor().position()
        if self._from is None or at <= self._from or text[self._from : self._from + 1] != "/":
            return None
        called = text[self._from + 1 : at]
        return None if "\n" in called else called

    def _use(self, prompt_id: str) -> None:
        prompt, start = self._prompts.get(prompt_id), self._from
        end = self._edit.textCursor().position()
        if prompt is None or start is None:
            return
        known = self._known()
        self._close()
        from app.assistants.values.prompts import asked_for, filled

        names = asked_for(prompt.text)
        if not names:
            self._insert(filled(prompt.text, known), start, end)
            return
        self._ask(prompt, names, known, (start, end))

    def _ask(
        self,
        prompt: SavedPrompt,
        names: tuple[str, ...],
        known: dict[str, str],
        place: tuple[int, int],
    ) -> None:
        from app.assistants.pages.variables_dialog import VariablesDialog
        from app.assistants.values.prompts import filled

        def use(values: Mapping[str, str]) -> None:
            self._insert(filled(prompt.text, {**known, **values}), *place)

        VariablesDialog(prompt.name, names, use, self._edit.window()).open()

    def _insert(self, text: str, start: int, end: int) -> None:
        cursor = self._edit.textCursor()
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text)
        self._edit.setTextCursor(cursor)
        self._edit.setFocus()
        self._close()

    def _known(self) -> dict[str, str]:
        """Return the values of the variables that Hearth fills in itself."""
        today = QLocale().toString(QDate.currentDate(), QLocale.FormatType.LongFormat)
        return {
            "clipboard": QGuiApplication.clipboard().text(),
            "date": today,
            "selection": self._selected or self._selected_message(),
        }

    def _selected_message(self) -> str:
        views = self._messages.findChildren(QTextEdit)
        return next((text for view in views if (text := _plain(view.textCursor()))), "")

    def _hide(self) -> None:
        if self._popup is not None:
            self._popup.hide()
            self._popup.deleteLater()
            self._popup = None

    def _close(self) -> None:
        self._hide()
        self._from = None
        self._selected = ""


def _plain(cursor: QTextCursor) -> str:
    """Return the selected text, with newlines in place of Qt's paragraph and line separators."""
    return (
        cursor.selectedText()
        .replace("\N{PARAGRAPH SEPARATOR}", "\n")
        .replace("\N{LINE SEPARATOR}", "\n")
    )
