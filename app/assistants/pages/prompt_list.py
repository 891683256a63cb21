"""The prompt library: its list and its form, and the import and export of prompts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.assistants.presenters.prompts import Prompts
from app.assistants.values.assistants import LONGEST_NAME
from app.assistants.values.prompts import AUTOMATIC_VARIABLES, SavedPrompt, matching, user_variables
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.emptying import empty
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.models.library.pages.part_page import PartPage


class PromptForm(Panel):
    """The form of a prompt.

    Signals:
        saved(SavedPrompt): The user saved the form; the prompt has its values.
        left(): The user cancelled.
    """

    saved = Signal(object)
    cancelled = Signal()

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
        self._variables = Label("", "small", name="foundVariables", wrap=True)
        self._name.textChanged.connect(self._check)
        self._text.textChanged.connect(self._check)
        self._add(self.tr("Name"), self.tr("Type / and this name to use it"), self._name)
        own = ", ".join(f"{{{{{name}}}}}" for name in AUTOMATIC_VARIABLES)
        words = self.tr(
            "Hearth asks you for {blank} when you use the prompt, and fills in {own} by itself."
        ).format(blank="{{name}}", own=own)
        self._add(self.tr("Text"), words, self._text)
        self.box.addWidget(self._variables)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addStretch(1)
        leave = LabelledButton("close", self.tr("Cancel"), "leavePrompt")
        leave.clicked.connect(self.cancelled)
        self._save = LabelledButton(
            "check", self.tr("Save"), "savePrompt", look="primary", tone="on_accent"
        )
        self._save.clicked.connect(self._emit_saved)
        row.addWidget(leave)
        row.addWidget(self._save)
        self.box.addLayout(row)
        self._check()

    def focus(self) -> None:
        """Focus the name."""
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
        names = user_variables(text)
        text_asks = self.tr("You will be asked for: {names}").format(names=", ".join(names))
        self._variables.setText(text_asks if names else "")
        self._variables.setVisible(bool(names))

    def _emit_saved(self) -> None:
        name = " ".join(self._name.text().split()).lstrip("/")
        self.saved.emit(replace(self._prompt, name=name, text=self._text.toPlainText()))


_MOST_CHARACTERS = 140


class PromptCard(Panel):
    """A card with a prompt.

    Signals:
        asked(action, id): "edit" or "remove".
    """

    requested = Signal(str, str)

    def __init__(self, prompt: SavedPrompt, parent: QWidget | None = None) -> None:
        super().__init__(
            "card", f"prompt-{prompt.id}", across=True, margins=(2, 1.5, 1.5, 1.5), parent=parent
        )
        self.setAccessibleName(prompt.name)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(Label(f"/{prompt.name}", "strong", wrap=True))
        line = " ".join(prompt.text.split())
        words = (
            line
            if len(line) <= _MOST_CHARACTERS
            else f"{line[:_MOST_CHARACTERS].rsplit(' ', 1)[0]}…"
        )
        texts.addWidget(Label(words, "muted", wrap=True))
        self.box.addLayout(texts, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID // 2)
        for drawing, text, action in (
            ("pencil", self.tr("Edit {name}"), "edit"),
            ("trash", self.tr("Remove {name}"), "remove"),
        ):
            button = IconButton(drawing, text.format(name=prompt.name), f"{action}Prompt", size=18)
            button.clicked.connect(lambda _=False, act=action: self.requested.emit(act, prompt.id))
            buttons.addWidget(button)
        self.box.addLayout(buttons)
        self.box.setAlignment(buttons, Qt.AlignmentFlag.AlignTop)


_MOST_SHOWN = 200
"""The largest number of prompts shown at once; a search finds the others."""


class PromptList(PartPage):
    """The list of prompts. Actions go to the presenter, and the list shows their results."""

    def __init__(self, service: Prompts, notifier: Notifier, parent: QWidget | None = None) -> None:
        super().__init__("promptList", parent=parent)
        self._service = service
        self._notifier = notifier
        self._words = QLineEdit()
        self._words.setObjectName("searchPrompts")
        self._words.setAccessibleName(self.tr("Search the prompts"))
        self._words.setPlaceholderText(self.tr("Search"))
        self._words.setClearButtonEnabled(True)
        self._words.textChanged.connect(self._show)
        self.column.addWidget(self._words)
        self._content = QVBoxLayout()
        self._content.setSpacing(12)
        self.column.addLayout(self._content)
        self.column.addStretch(1)
        service.changed.connect(self._show)
        service.failed.connect(notifier.error)
        self._show()

    def show_new(self) -> None:
        """Show the form for a new prompt."""
        self._edit(SavedPrompt("", "", ""))

    def pick_import(self) -> None:
        """Let the user choose a file, and import its prompts."""
        self._pick(QFileDialog.AcceptMode.AcceptOpen, self._import)

    def pick_export(self) -> None:
        """Let the user name a file, and export all prompts to it."""
        self._pick(QFileDialog.AcceptMode.AcceptSave, self._write)

    def _pick(self, mode: QFileDialog.AcceptMode, act: Callable[[Path], None]) -> None:
        saves = mode is QFileDialog.AcceptMode.AcceptSave
        title = self.tr("Export the prompts") if saves else self.tr("Import prompts")
        dialog = QFileDialog(
            self.window(), title, str(Path.home() / "prompts.json"), self.tr("Prompts (*.json)")
        )
        dialog.setObjectName("pickPrompts")
        dialog.setAcceptMode(mode)
        dialog.setDefaultSuffix("json")
        if not saves:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: act(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _show(self) -> None:
        empty(self._content)
        prompts = self._service.all()
        matches = matching(prompts, self._words.text())
        self._words.setVisible(bool(prompts))
        if not prompts:
            self._content.addWidget(Label(self.tr("No prompts yet"), "title"))
            words = self.tr(
                "A prompt is a text that you write once and use again. Type / in a message to find "
                "it. The variables in {{double braces}} are filled in for each use."
            )
            self._content.addWidget(Label(words, "muted", name="noPrompts", wrap=True))
        elif not matches:
            words = self.tr("No prompt has the name “{name}”.").format(
                name=self._words.text().strip()
            )
            self._content.addWidget(Label(words, "muted", name="noPrompts", wrap=True))
        for prompt in matches[:_MOST_SHOWN]:
            card = PromptCard(prompt)
            card.requested.connect(self._act, Qt.ConnectionType.QueuedConnection)
            self._content.addWidget(card)
        if len(matches) > _MOST_SHOWN:
            words = self.tr("{count} more; search for their names.").format(
                count=len(matches) - _MOST_SHOWN
            )
            self._content.addWidget(Label(words, "muted"))

    def _act(self, action: str, prompt_id: str) -> None:
        prompt = self._service.get(prompt_id)
        if prompt is None:
            return
        if action == "edit":
            self._edit(prompt)
            return
        self._service.remove(prompt_id)
        text = self.tr("“{name}” was removed.").format(name=prompt.name)
        self._notifier.offer_undo(text, lambda: self._service.save(prompt))

    def _edit(self, prompt: SavedPrompt) -> None:
        empty(self._content)
        self._words.hide()
        form = PromptForm(prompt)
        form.cancelled.connect(self._show, Qt.ConnectionType.QueuedConnection)
        form.saved.connect(self._save, Qt.ConnectionType.QueuedConnection)
        self._content.addWidget(form)
        form.focus()

    def _save(self, prompt: SavedPrompt) -> None:
        if prompt.id:
            self._service.save(prompt)
        else:
            self._service.create(prompt.name, prompt.text)

    def _import(self, path: Path) -> None:
        self._service.import_file(path, self._imported, self._notifier.error)

    def _write(self, path: Path) -> None:
        self._service.export(path, self._exported, self._notifier.error)

    def _exported(self, path: Path) -> None:
        self._notifier.say(self.tr("The prompts were saved to {name}.").format(name=path.name))

    def _imported(self, number: int) -> None:
        if number:
            self._notifier.say(self.tr("{number} prompts were added.").format(number=number))
        else:
            self._notifier.say(self.tr("You have all of these prompts already."))
