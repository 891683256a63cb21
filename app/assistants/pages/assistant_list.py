"""The list of the user's assistants and of Hearth's suggestions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.assistants.pages.assistant_form import AssistantForm
from app.assistants.pages.preset_actions import PresetActions
from app.assistants.pages.variables_dialog import VariablesDialog
from app.assistants.presenters.assistants import Assistants
from app.assistants.values.assistants import Assistant
from app.assistants.values.prompts import fill_in, user_variables, variables
from app.base.language import translated
from app.documents.collections.values import DocumentCollection
from app.kit.look.format import shortened
from app.kit.look.theme import GRID
from app.kit.notify import Notifier
from app.kit.widgets.action import UserAction
from app.kit.widgets.card import ItemCard
from app.kit.widgets.column_page import PartPage
from app.kit.widgets.emptying import empty
from app.kit.widgets.initial import Initial
from app.kit.widgets.label import Label
from app.kit.widgets.layouts import at_top, column, fill, row
from app.models.library.values.entry import ModelEntry
from app.settings.presenters import SettingsService

_MOST_CHARACTERS = 170
"""Of the system prompt; the form shows the rest."""


class AssistantCard(ItemCard):
    """A card with an assistant or a suggestion.

    Args:
        assistant: The assistant or suggestion.
        model: The name of its model; "" for none.
        buttons: What the user can do with it.
    """

    def __init__(self, assistant: Assistant, model: str, *buttons: QWidget) -> None:
        name = display_name(assistant)
        prompt = assistant.system_prompt
        plain = fill_in(prompt, {variable: f"[{variable}]" for variable in variables(prompt)})
        words = shortened(plain, _MOST_CHARACTERS) or self.tr("No system prompt.")
        with_model = [Label(self.tr("With {model}").format(model=model), "small")] if model else []
        title = Label(name, "strong", name="assistantTitle", wrap=True)
        texts = column(title, Label(words, "muted", wrap=True), *with_model, spacing=4)
        super().__init__(
            f"assistant-{assistant.id}", at_top(Initial(name)),
            (texts, 1), column(row(*buttons, spacing=GRID // 2), 1), spoken=name,
            margins=(2, 2, 2, 2),
        )  # fmt: skip


def display_name(assistant: Assistant) -> str:
    """Return the name, with an ellipsis in place of each variable."""
    return fill_in(assistant.name, dict.fromkeys(variables(assistant.name), "…"))


class AssistantList(PartPage):
    """The list of assistants, or the form in its place.

    Args:
        models: Returns the models on this computer.
        collections: Returns the collections of documents.
        chat: Begins a chat with the assistant with this id.
    """

    def __init__(
        self,
        service: Assistants,
        settings: SettingsService,
        models: Callable[[], Sequence[ModelEntry]],
        collections: Callable[[], Sequence[DocumentCollection]],
        notifier: Notifier,
        chat: Callable[[str], object],
    ) -> None:
        super().__init__("assistantList")
        self._service = service
        self._settings = settings
        self._models = models
        self._collections = collections
        self._notifier = notifier
        self._chat = chat
        self._presets = PresetActions(service, notifier, self)
        self._form: AssistantForm | None = None
        self._content = QVBoxLayout()
        self._content.setSpacing(12)
        fill(self.column, self._content, 1)
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
            self._content.addWidget(AssistantCard(assistant, model, *self._buttons(assistant)))
        if suggested:
            heading = Label(self.tr("Suggestions"), "group")
            heading.setContentsMargins(0, GRID, 0, 0)
            self._content.addWidget(heading)
        for draft in suggested:
            words, add = self.tr("Add"), partial(self._copy_draft, draft)
            spoken = f"{words}: {display_name(draft)}"
            button = UserAction("addAssistant", "plus", words, add).button(spoken=spoken)
            self._content.addWidget(AssistantCard(draft, "", button))

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

    def _buttons(self, assistant: Assistant) -> tuple[QWidget, ...]:
        words, name = self.tr("Chat"), display_name(assistant)
        chat = UserAction("chatAssistant", "chat", words, partial(self._chat, assistant.id))
        entries = (
            ("edit", "pencil", self.tr("Edit {name}"), self._edit),
            ("copy", "copy", self.tr("Duplicate {name}"), self._duplicate),
            ("remove", "trash", self.tr("Remove {name}"), self._remove),
        )
        return (
            chat.button(spoken=f"{words}: {name}"),
            *(
                UserAction(
                    f"{verb}Assistant", icon, text.format(name=name), partial(do, assistant)
                ).icon_button(18)
                for verb, icon, text, do in entries
            ),
        )

    def _duplicate(self, assistant: Assistant) -> None:
        self._edit(self._service.copy(assistant))

    def _remove(self, assistant: Assistant) -> None:
        self._service.remove(assistant.id)
        text = self.tr("“{name}” was removed.").format(name=assistant.name)
        self._notifier.offer_undo(text, partial(self._service.save, assistant))

    def _copy_draft(self, draft: Assistant) -> None:
        names = user_variables(f"{draft.name}\n{draft.system_prompt}")
        if not names:
            self._service.copy(draft)
            return
        title = self.tr("Fill in the assistant")
        VariablesDialog(title, names, partial(self._service.copy, draft), self.window()).open()

    def _edit(self, assistant: Assistant) -> None:
        empty(self._content)
        form = AssistantForm(
            assistant,
            self._settings.current,
            self._models(),
            self._service.presets(),
            self._collections(),
            self._save,
            self.show_list,
        )
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
