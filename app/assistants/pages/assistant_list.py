"""The list of the user's assistants and of Hearth's suggestions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.assistants.pages.assistant_form import AssistantForm
from app.assistants.pages.preset_actions import PresetActions
from app.assistants.pages.variables_dialog import VariablesDialog
from app.assistants.presenters.assistants import Assistants
from app.assistants.values.assistants import Assistant
from app.assistants.values.prompts import fill_in, user_variables, variables
from app.base.language import translated
from app.documents.collections.values import DocumentCollection
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.emptying import empty
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.kit.widgets.picture import Picture
from app.models.library.pages.part_page import PartPage
from app.models.library.values.entry import ModelEntry
from app.settings.presenters import SettingsService

_MOST_CHARACTERS = 170
"""In characters of the system prompt; the form shows the rest."""


class AssistantCard(Panel):
    """A card with an assistant or a suggestion.

    Args:
        model: The name of its model; "" for none.

    Signals:
        asked(action, id): "chat", "edit", "copy" or "remove"; of a suggestion "add".
    """

    requested = Signal(str, str)

    def __init__(
        self,
        assistant: Assistant,
        *,
        model: str = "",
        suggested: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "card", f"assistant-{assistant.id}", across=True, margins=(2, 2, 2, 2), spacing=1.5,
            parent=parent,
        )  # fmt: skip
        self._id = assistant.id
        name = display_name(assistant)
        self.setAccessibleName(name)
        self.box.addWidget(Picture("assistant", "accent_text", 24), 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(4)
        texts.addWidget(Label(name, "strong", name="assistantTitle", wrap=True))
        words = shortened(assistant.system_prompt) or self.tr("No system prompt.")
        texts.addWidget(Label(words, "muted", wrap=True))
        if model:
            texts.addWidget(Label(self.tr("With {model}").format(model=model), "small"))
        self.box.addLayout(texts, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(GRID // 2)
        if suggested:
            self._button(buttons, "plus", self.tr("Add"), "add", name)
        else:
            self._button(buttons, "chat", self.tr("Chat"), "chat", name)
            for drawing, text, action in (
                ("pencil", self.tr("Edit {name}"), "edit"),
                ("copy", self.tr("Duplicate {name}"), "copy"),
                ("trash", self.tr("Remove {name}"), "remove"),
            ):
                button = IconButton(drawing, text.format(name=name), f"{action}Assistant", size=18)
                button.clicked.connect(
                    lambda _=False, act=action: self.requested.emit(act, self._id)
                )
                buttons.addWidget(button)
        self.box.addLayout(buttons)
        self.box.setAlignment(buttons, Qt.AlignmentFlag.AlignTop)

    def _button(self, row: QHBoxLayout, drawing: str, text: str, action: str, name: str) -> None:
        button = LabelledButton(drawing, text, f"{action}Assistant")
        button.setAccessibleName(f"{text}: {name}")
        button.clicked.connect(lambda: self.requested.emit(action, self._id))
        row.addWidget(button)


def display_name(assistant: Assistant) -> str:
    """Return the name, with an ellipsis in place of each variable."""
    return fill_in(assistant.name, dict.fromkeys(variables(assistant.name), "…"))


def shortened(text: str) -> str:
    """Return the beginning of a text on one line, cut between words."""
    line = " ".join(fill_in(text, {name: f"[{name}]" for name in variables(text)}).split())
    if len(line) <= _MOST_CHARACTERS:
        return line
    return line[:_MOST_CHARACTERS].rsplit(" ", 1)[0].rstrip(",.;:") + "…"


class AssistantList(PartPage):
    """The list of assistants, or the form in its place.

    Args:
        models: Returns the models on this computer.
        collections: Returns the collections of documents.

    Signals:
        chat(id): The user wants to begin a chat with this assistant.
    """

    chat = Signal(str)

    def __init__(
        self,
        service: Assistants,
        settings: SettingsService,
        models: Callable[[], Sequence[ModelEntry]],
        collections: Callable[[], Sequence[DocumentCollection]],
        notifier: Notifier,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("assistantList", parent=parent)
        self._service = service
        self._settings = settings
        self._models = models
        self._collections = collections
        self._notifier = notifier
        self._presets = PresetActions(service, notifier, self)
        self._form: AssistantForm | None = None
        self._content = QVBoxLayout()
        self._content.setSpacing(12)
        self.column.addLayout(self._content)
        self.column.addStretch(1)
        service.changed.connect(self._changed)
        service.failed.connect(notifier.error)
        self._show()

    def show_new(self) -> None:
        """Show the form for a new assistant."""
        self._edit(Assistant(id="", name=""))

    def show_list(self) -> None:
        """Close the form, if it is open, and show the list."""
        self._form = None
        self._show()

    def _changed(self) -> None:
        if self._form is None:
            self._show()
        else:
            self._form.sampling.show_presets(self._service.presets())

    def _show(self) -> None:
        empty(self._content)
        names = {model.id: model.name for model in self._models()}
        mine, suggested = self._service.all(), self._suggested()
        if not mine:
            self._content.addWidget(Label(self.tr("No assistants yet"), "title"))
            words = self.tr(
                "An assistant has its own instructions, model and settings. Make one, or "
                "start with one of these."
            )
            self._content.addWidget(Label(words, "muted", name="noAssistants", wrap=True))
        for assistant in mine:
            model = names.get(assistant.model or "", assistant.model or "")
            self._add(AssistantCard(assistant, model=model))
        if suggested:
            heading = Label(self.tr("Suggestions"), "group")
            heading.setContentsMargins(0, GRID, 0, 0)
            self._content.addWidget(heading)
        for draft in suggested:
            self._add(AssistantCard(draft, suggested=True))

    def _suggested(self) -> list[Assistant]:
        """Return the suggestions, translated into the window's language."""
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
        card.requested.connect(self._act, Qt.ConnectionType.QueuedConnection)
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
                    text = self.tr("“{name}” was removed.").format(name=removed.name)
                    self._notifier.offer_undo(text, lambda: self._service.save(removed))

    def _copy_draft(self, draft_id: str) -> None:
        draft = next((draft for draft in self._suggested() if draft.id == draft_id), None)
        if draft is None:
            return
        names = user_variables(f"{draft.name}\n{draft.system_prompt}")
        if not names:
            self._service.copy(draft)
            return
        dialog = VariablesDialog(self.tr("Fill in the assistant"), names, parent=self.window())
        dialog.filled.connect(lambda values: self._service.copy(draft, values))
        dialog.open()

    def _edit(self, assistant: Assistant) -> None:
        empty(self._content)
        form = AssistantForm(
            assistant,
            self._settings.current,
            self._models(),
            self._service.presets(),
            self._collections(),
        )
        form.cancelled.connect(self.show_list, Qt.ConnectionType.QueuedConnection)
        form.saved.connect(self._save, Qt.ConnectionType.QueuedConnection)
        form.sampling.save_preset.connect(lambda: self._presets.save(form.settings))
        form.sampling.delete_preset.connect(self._presets.delete)
        self._form = form
        title = self.tr("Edit the assistant") if assistant.id else self.tr("New assistant")
        self._content.addWidget(Label(title, "title"))
        self._content.addWidget(form)
        form.focus()

    def _save(self, assistant: Assistant) -> None:
        self._form = None
        if assistant.id:
            self._service.save(assistant)
        else:
            self._service.copy(assistant)
