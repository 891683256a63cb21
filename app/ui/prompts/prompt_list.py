"""The prompt library: what is in it, and taking prompts in and out of files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLineEdit, QVBoxLayout, QWidget

from app.core.chats.prompts import SavedPrompt, matching
from app.presenters.prompts import Prompts
from app.ui.models.part_page import PartPage
from app.ui.notify import Notifier
from app.ui.prompts.prompt_card import PromptCard
from app.ui.prompts.prompt_form import PromptForm
from app.ui.widgets.emptying import empty
from app.ui.widgets.label import Label

_MOST = 200
"""How many are shown at once; the rest are found by their names."""


class PromptList(PartPage):
    """What is done here goes to the service; what comes of it is shown."""

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
        service.exported.connect(self._exported)
        service.imported.connect(self._imported)
        self._show()

    def make(self) -> None:
        """Show the form for a new one."""
        self._edit(SavedPrompt("", "", ""))

    def pick_import(self) -> None:
        """Let the user pick a file, and take in what it holds."""
        self._pick(QFileDialog.AcceptMode.AcceptOpen, self._service.take_in)

    def pick_export(self) -> None:
        """Let the user name a file, and write all prompts to it."""
        self._pick(QFileDialog.AcceptMode.AcceptSave, self._service.export)

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
        found = matching(prompts, self._words.text())
        self._words.setVisible(bool(prompts))
        if not prompts:
            self._content.addWidget(Label(self.tr("No prompts yet"), "title"))
            words = self.tr(
                "A prompt is a text that you write once and use again. Type / in a message to find "
                "it; what stands in {{two braces}} is filled in then."
            )
            self._content.addWidget(Label(words, "muted", name="noPrompts", wrap=True))
        elif not found:
            words = self.tr("None is called “{0}”.").format(self._words.text().strip())
            self._content.addWidget(Label(words, "muted", name="noPrompts", wrap=True))
        for prompt in found[:_MOST]:
            card = PromptCard(prompt)
            card.asked.connect(self._act, Qt.ConnectionType.QueuedConnection)
            self._content.addWidget(card)
        if len(found) > _MOST:
            words = self.tr("{0} more; search for their names.").format(len(found) - _MOST)
            self._content.addWidget(Label(words, "muted"))

    def _act(self, action: str, prompt_id: str) -> None:
        prompt = self._service.get(prompt_id)
        if prompt is None:
            return
        if action == "edit":
            self._edit(prompt)
            return
        self._service.remove(prompt_id)
        text = self.tr("“{0}” was removed.").format(prompt.name)
        self._notifier.offer_undo(text, lambda: self._service.save(prompt))

    def _edit(self, prompt: SavedPrompt) -> None:
        empty(self._content)
        self._words.hide()
        form = PromptForm(prompt)
        form.left.connect(self._show, Qt.ConnectionType.QueuedConnection)
        form.saved.connect(self._save, Qt.ConnectionType.QueuedConnection)
        self._content.addWidget(form)
        form.focus()

    def _save(self, prompt: SavedPrompt) -> None:
        if prompt.id:
            self._service.save(prompt)
        else:
            self._service.make(prompt.name, prompt.text)

    def _exported(self, path: Path) -> None:
        self._notifier.say(self.tr("The prompts were saved to {0}.").format(path.name))

    def _imported(self, number: int) -> None:
        if number:
            self._notifier.say(self.tr("{0} prompts were added.").format(number))
        else:
            self._notifier.say(self.tr("All of them are here already."))
