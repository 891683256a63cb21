"""The form for making or editing an assistant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.assistants.pages.sampling_form import SamplingForm
from app.assistants.values.assistants import LONGEST_NAME, Assistant, Preset
from app.documents.collections.pages.collection_choice import CollectionChoice
from app.documents.collections.values import DocumentCollection
from app.kit.widgets.action import UserAction
from app.kit.widgets.fields import LineField, TextField
from app.kit.widgets.form import FormCard, field
from app.models.library.pages.model_box import ModelBox
from app.models.library.values.entry import ModelEntry
from app.settings.values.fields import Settings
from app.settings.values.resolved import NO_LAYERS, SettingLayers, Source, resolve


class AssistantForm(FormCard):
    """The form of an assistant.

    Args:
        assistant: The assistant to edit.
        settings: The app's settings, which apply where the assistant sets nothing.
        models: The models to choose from.
        presets: The presets to choose from.
        collections: The collections to choose from.
        save: Called with the edited assistant; nothing is stored before.
        leave: Called if the user cancels.
    """

    def __init__(
        self,
        assistant: Assistant,
        settings: Settings,
        models: Sequence[ModelEntry],
        presets: Sequence[Preset],
        collections: Sequence[DocumentCollection],
        save: Callable[[Assistant], object],
        leave: Callable[[], object],
    ) -> None:
        super().__init__(
            "assistantForm",
            UserAction("saveAssistant", "check", self.tr("Save"), lambda: save(self._edited())),
            UserAction("leaveAssistant", "close", self.tr("Cancel"), leave),
        )
        self._assistant = assistant
        self._settings = settings
        self._values = dict(assistant.settings)
        name, prompt, greeting = self.tr("Name"), self.tr("System prompt"), self.tr("Greeting")
        hint = self.tr("Such as “Proofreader”")
        self._name = LineField(
            "assistantName", name, assistant.name, hint=hint, longest=LONGEST_NAME
        )
        hint, text = self.tr("You are… Answer with… Never…"), assistant.system_prompt
        self._prompt = TextField("assistantPrompt", prompt, text, height=168, hint=hint)
        self._greeting = TextField("assistantGreeting", greeting, assistant.greeting, height=72)
        self._model = ModelBox("assistantModel", self.tr("Default"))
        self._model.show_models(models, assistant.model)
        self._documents = CollectionChoice("assistantDocuments")
        self._documents.show_collections(collections, assistant.collections)
        self.sampling = SamplingForm("assistant", self._source)
        self.sampling.changed.connect(self._set)
        self.sampling.preset.connect(self._apply_preset)
        self.sampling.show_presets(presets)
        self._show()
        who = self.tr("Who the assistant is and how it should answer. It is sent with every chat.")
        first = self.tr("The first message of a new chat. Leave it empty for none.")
        asked = self.tr("Collections that its answers use.")
        rest = self.tr("Anything not set here follows the model and the settings.")
        self.lay_out(
            field(name, self._name),
            field(prompt, self._prompt, note=who),
            field(greeting, self._greeting, note=first),
            field(self.tr("Model"), self._model),
            field(self.tr("Documents"), self._documents, note=asked),
            field(self.tr("Its answers"), self.sampling, note=rest),
        )
        self.save_if(lambda: self._name.words, self._name.textChanged)

    @property
    def settings(self) -> Settings:
        """The settings that apply with the form's current values."""
        return resolve(self._settings, lambda _: {}, self._layers()).settings

    def focus(self) -> None:
        """Focus the name, and select it."""
        self._name.setFocus()
        self._name.selectAll()

    def _layers(self) -> SettingLayers:
        return replace(NO_LAYERS, assistant=self._values)

    def _show(self) -> None:
        self.sampling.show_settings(resolve(self._settings, lambda _: {}, self._layers()))

    def _set(self, name: str, value: object) -> None:
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value
        self._show()

    def _apply_preset(self, preset: Preset) -> None:
        self._values |= preset.settings
        self._show()

    def _source(self, source: Source) -> str:
        return self.tr("Set here") if source == "assistant" else ""

    def _edited(self) -> Assistant:
        return replace(
            self._assistant,
            name=self._name.line,
            system_prompt=self._prompt.toPlainText().strip(),
            greeting=self._greeting.toPlainText().strip(),
            model=self._model.chosen_model,
            settings=self._values,
            collections=self._documents.choice,
        )
