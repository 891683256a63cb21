"""Inserting prompts into a message: after / at its beginning, or with a shortcut anywhere in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QEvent, QLocale, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QMenu,
    QTextEdit,
    QWidget,
)

from app.assistants.values.prompts import SavedPrompt
from app.kit.look.theme import GRID
from app.kit.text.long_lines import LongLineEdit, joined
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
            self._hint.setText(self.tr("Enter inserts the prompt, Esc closes the list"))
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

    def choose_selected(self) -> bool:
        """Choose the selected prompt; return False if none is selected."""
        item = self._list.currentItem()
        if item is not None:
            self._choose(item)
        return item is not None

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(item.data(Qt.ItemDataRole.UserRole))


_CHOOSE_KEYS = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab}
_STEP_KEYS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_CLOSE_KEY = Qt.Key.Key_Escape


class PromptInsertion(QObject):
    """The insertion of prompts into a message, which the user can undo.

    Args:
        messages: The widget in which the user can select text for {{selection}}.
    """

    def __init__(self, prompts: Prompts, edit: LongLineEdit, messages: QWidget) -> None:
        super().__init__(edit)
        self._prompts = prompts
        self._edit = edit
        self._messages = messages
        self._slash_at: int | None = None
        self._closed_at_text: str | None = None
        self._selected = ""
        self._popup: PromptPopup | None = None
        self._place_timer = timer(self, 0, self._place_popup)
        edit.installEventFilter(self)
        edit.textChanged.connect(self._update_list)
        edit.cursorPositionChanged.connect(self._update_list)

    def open(self) -> None:
        """Open the list at the cursor; text selected there becomes {{selection}}."""
        cursor = self._edit.textCursor()
        self._selected = _plain(cursor)
        self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._slash_at = cursor.selectionStart()
        cursor.insertText("/")
        self._update_list()

    def fill(self, menu: QMenu) -> None:
        """Add *Insert a prompt…* to the composer's menu."""
        action = menu.addAction(self.tr("Insert a prompt…"))
        action.setObjectName("insertPrompt")
        action.triggered.connect(lambda: self.open())  # noqa: PLW0108 - takes no state

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Pass the keys of the open list on, and close it when the field loses the focus."""
        if event.type() is QEvent.Type.FocusOut:
            self._close()
        elif event.type() is QEvent.Type.Resize and self._popup is not None:
            self._place_timer.start()
        if self._popup is not None and isinstance(event, QKeyEvent):
            if event.type() is QEvent.Type.ShortcutOverride:
                return self._claim(event)
            if event.type() is QEvent.Type.KeyPress:
                return self._key(Qt.Key(event.key()), self._popup)
        return super().eventFilter(watched, event)

    def _claim(self, event: QKeyEvent) -> bool:
        """Keep the list's keys, such as Esc, from triggering shortcuts of the window."""
        claimed = (
            event.key() in _CHOOSE_KEYS or event.key() in _STEP_KEYS or event.key() == _CLOSE_KEY
        )
        event.setAccepted(claimed)
        return claimed

    def _key(self, key: Qt.Key, popup: PromptPopup) -> bool:
        if key == _CLOSE_KEY:
            self._close()
            self._closed_at_text = self._edit.toPlainText()
            return True
        if key in _STEP_KEYS:
            popup.step(_STEP_KEYS[key])
            return True
        if key in _CHOOSE_KEYS:
            self._edit.commit()
            return popup.choose_selected()
        return False

    def _update_list(self) -> None:
        """Update the list from the text after the slash."""
        text = self._edit.toPlainText()
        if text != self._closed_at_text:
            self._closed_at_text = None
        if self._slash_at is None and text == "/" and self._closed_at_text is None:
            self._slash_at = 0
        name = self._typed_name()
        if name is None:
            self._close()
            return
        from app.assistants.values.prompts import matching

        matches = matching(self._prompts.all(), name)
        if not matches and name:
            self._hide()
            return
        if self._popup is None:
            self._popup = PromptPopup(self._edit.window())
            self._popup.chosen.connect(self._use, Qt.ConnectionType.QueuedConnection)
        self._popup.show_prompts(matches)
        self._place_popup()

    def _place_popup(self) -> None:
        if self._popup is not None:
            self._popup.place_above(self._edit.parentWidget() or self._edit)

    def _typed_name(self) -> str | None:
        """Return the text between the slash and the cursor; None if the list is not wanted."""
        position = self._edit.textCursor().position()
        if self._slash_at is None or position <= self._slash_at:
            return None
        typed = _plain(self._cursor_over(self._slash_at, position))
        return typed[1:] if typed.startswith("/") and "\n" not in typed else None

    def _cursor_over(self, start: int, end: int) -> QTextCursor:
        """Return a cursor that selects a part of the text, by Qt's positions."""
        cursor = self._edit.textCursor()
        cursor.setPosition(start)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _use(self, prompt_id: str) -> None:
        prompt, start = self._prompts.get(prompt_id), self._slash_at
        end = self._edit.textCursor().position()
        if prompt is None or start is None:
            return
        values = self._automatic_values()
        self._close()
        from app.assistants.values.prompts import fill_in, user_variables

        names = user_variables(prompt.text)
        if not names:
            self._insert(fill_in(prompt.text, values), start, end)
            return
        self._ask_for_values(prompt, names, values, (start, end))

    def _ask_for_values(
        self,
        prompt: SavedPrompt,
        names: tuple[str, ...],
        automatic: dict[str, str],
        span: tuple[int, int],
    ) -> None:
        from app.assistants.pages.variables_dialog import VariablesDialog
        from app.assistants.values.prompts import fill_in

        def use(values: Mapping[str, str]) -> None:
            self._insert(fill_in(prompt.text, {**automatic, **values}), *span)

        VariablesDialog(prompt.name, names, use, self._edit.window()).open()

    def _insert(self, text: str, start: int, end: int) -> None:
        self._edit.setTextCursor(self._cursor_over(start, end))
        self._edit.insertPlainText(text)
        self._edit.setFocus()
        self._close()

    def _automatic_values(self) -> dict[str, str]:
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
        self._slash_at = None
        self._selected = ""


def _plain(cursor: QTextCursor) -> str:
    """Return the selected text, with newlines in place of Qt's paragraph and line separators."""
    return joined(
        cursor.selectedText()
        .replace("\N{PARAGRAPH SEPARATOR}", "\n")
        .replace("\N{LINE SEPARATOR}", "\n")
    )
