"""The user's assistants, and those that Hearth suggests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.chats.assistants import Assistant
from app.core.chats.prompts import asked_for
from app.core.models.entry import ModelEntry
from app.presenters.assistants import Assistants
from app.presenters.settings import SettingsService
from app.ui.assistants.assistant_card import AssistantCard
from app.ui.assistants.assistant_form import AssistantForm
from app.ui.assistants.preset_keeper import PresetKeeper
from app.ui.look.language import translated
from app.ui.look.theme import GRID
from app.ui.models.part_page import PartPage
from app.ui.notify import Notifier
from app.ui.prompts.variables_dialog import VariablesDialog
from app.ui.widgets.emptying import empty
from app.ui.widgets.label import Label


class AssistantList(PartPage):
    """chat(id): the user wants to begin one with this assistant.

    models: lists the models here.
    """

    chat = Signal(str)

    def __init__(
        self,
        service: Assistants,
        settings: SettingsService,
        models: Callable[[], Sequence[ModelEntry]],
        notifier: Notifier,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("assistantList", parent=parent)
        self._service = service
        self._settings = settings
        self._models = models
        self._notifier = notifier
        self._presets = PresetKeeper(service, notifier, self)
        self._form: AssistantForm | None = None
        self._content = QVBoxLayout()
        self._content.setSpacing(12)
        self.column.addLayout(self._content)
        self.column.addStretch(1)
        service.changed.connect(self._changed)
        service.failed.connect(notifier.error)
        self._show()

    def make(self) -> None:
        """Show the form for a new one."""
        self._edit(Assistant(id="", name=""))

    def show_list(self) -> None:
        """Leave the form, if it is open."""
        self._form = None
        self._show()

    def _changed(self) -> None:
        if self._form is None:
            self._show()
        else:
            self._form.sampling.show_presets(self._service.presets())

    def _show(self) -> None:
        empty(self._content)
        names = {it.id: it.name for it in self._models()}
        mine, suggested = self._service.all(), self._suggested()
        if not mine:
            self._content.addWidget(Label(self.tr("No assistants yet"), "title"))
            words = self.tr(
                "An assistant answers in a certain way: with its own instructions, its own model "
                "and its own manner. Make one, or begin with one of these."
            )
            self._content.addWidget(Label(words, "muted", name="noAssistants", wrap=True))
        for assistant in mine:
            model = names.get(assistant.model or "", assistant.model or "")
            self._add(AssistantCard(assistant, model=model))
        if suggested:
            self._content.addSpacing(GRID)
            self._content.addWidget(Label(self.tr("Suggestions"), "group"))
        for draft in suggested:
            self._add(AssistantCard(draft, suggested=True))

    def _suggested(self) -> list[Assistant]:
        """In the language of the window, which is most likely that of its user."""
        return [
            replace(
                draft,
                name=translated(draft.name),
                system_prompt=translated(draft.system_prompt),
                greeting=translated(draft.greeting),
            )
            for draft in self._service.suggested()
        ]

    def _add(self, card: AssistantCard) -> None:
        card.asked.connect(self._act, Qt.ConnectionType.QueuedConnection)
        self._content.addWidget(card)

    def _act(self, action: str, assistant_id: str) -> None:
        if action == "add":
            self._copy_draft(assistant_id)
            return
        assistant = self._service.get(assistant_id)
        if assistant is None:
            return
        match action:
            case "chat":
                self.chat.emit(assistant_id)
            case "edit":
                self._edit(assistant)
            case "copy":
                self._edit(self._service.copy(assistant))
            case "remove":
                removed = self._service.remove(assistant_id)
                if removed is not None:
                    text = self.tr("“{0}” was removed.").format(removed.name)
                    self._notifier.offer_undo(text, lambda: self._service.save(removed))

    def _copy_draft(self, draft_id: str) -> None:
        draft = next((it for it in self._suggested() if it.id == draft_id), None)
        if draft is None:
            return
        names = asked_for(f"{draft.name}\n{draft.system_prompt}")
        if not names:
            self._service.copy(draft)
            return
        dialog = VariablesDialog(self.tr("Before it is added"), names, parent=self.window())
        dialog.filled.connect(lambda values: self._service.copy(draft, values))
        dialog.open()

    def _edit(self, assistant: Assistant) -> None:
        empty(self._content)
        form = AssistantForm(
            assistant, self._settings.current, self._models(), self._service.presets()
        )
        form.left.connect(self.show_list, Qt.ConnectionType.QueuedConnection)
        form.saved.connect(self._save, Qt.ConnectionType.QueuedConnection)
        form.sampling.keep.connect(lambda: self._presets.keep(form.settings))
        form.sampling.drop.connect(self._presets.drop)
        self._form = form
        title = self.tr("Change the assistant") if assistant.id else self.tr("A new assistant")
        self._content.addWidget(Label(title, "title"))
        self._content.addWidget(form)
        form.focus()

    def _save(self, assistant: Assistant) -> None:
        self._form = None
        if assistant.id:
            self._service.save(assistant)
        else:
            self._service.copy(assistant)
