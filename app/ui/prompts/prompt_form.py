"""The form in which a prompt of the library is made or changed."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from app.core.chats.assistants import LONGEST_NAME
from app.core.chats.prompts import FILLED_IN, SavedPrompt, asked_for
from app.ui.look.theme import GRID
from app.ui.widgets.label import Label
from app.ui.widgets.labelled_button import LabelledButton
from app.ui.widgets.panel import Panel


class PromptForm(Panel):
    """saved(SavedPrompt): with what the form says. left(): without it."""

    saved = Signal(object)
    left = Signal()

    def __init__(self, prompt: SavedPrompt, parent: QWidget | None = None) -> None:
        super().__init__("card", "promptForm", margins=(3, 2.5, 3, 2.5), spacing=2, parent=parent)
        self._prompt = prompt
        self._name = QLineEdit(prompt.name)
        self._name.setObjectName("promptName")
        self._name.setAccessibleName(self.tr("Name"))
        self._name.setPlaceholderText(self.tr("Such as “Reply to a letter”"))
        self._name.setMaxLength(LONGEST_NAME)
        self._text = QPlainTextEdit(prompt.text)
        self._text.setObjectName("promptText")
        self._text.setAccessibleName(self.tr("Text"))
        self._text.setTabChangesFocus(True)
        self._text.setFixedHeight(200)
        self._text.setPlaceholderText(
            self.tr("Reply to this letter in a {{tone}} tone:\n\n{{clipboard}}")
        )
        self._found = Label("", "small", name="foundVariables", wrap=True)
        self._name.textChanged.connect(self._check)
        self._text.textChanged.connect(self._check)
        self._add(self.tr("Name"), self.tr("By which you call it with /"), self._name)
        own = ", ".join(f"{{{{{name}}}}}" for name in FILLED_IN)
        words = self.tr(
            "{{name}} stands for something that you are asked for when you use the prompt. "
            "Hearth fills in {0} by itself."
        )
        self._add(self.tr("Text"), words.replace("{0}", own), self._text)
        self.box.addWidget(self._found)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addStretch(1)
        leave = LabelledButton("close", self.tr("Cancel"), "leavePrompt")
        leave.clicked.connect(self.left)
        self._save = LabelledButton(
            "check", self.tr("Save"), "savePrompt", look="primary", tone="on_accent"
        )
        self._save.clicked.connect(self._done)
        row.addWidget(leave)
        row.addWidget(self._save)
        self.box.addLayout(row)
        self._check()

    def focus(self) -> None:
        self._name.setFocus()

    def _add(self, title: str, words: str, widget: QWidget) -> None:
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(Label(title, "strong"))
        column.addWidget(Label(words, "small", wrap=True))
        column.addWidget(widget)
        self.box.addLayout(column)

    def _check(self) -> None:
        text = self._text.toPlainText()
        self._save.setEnabled(bool(self._name.text().strip() and text.strip()))
        names = asked_for(text)
        asks = self.tr("You will be asked for: {0}").format(", ".join(names))
        self._found.setText(asks if names else "")
        self._found.setVisible(bool(names))

    def _done(self) -> None:
        name = " ".join(self._name.text().split()).lstrip("/")
        self.saved.emit(replace(self._prompt, name=name, text=self._text.toPlainText()))
