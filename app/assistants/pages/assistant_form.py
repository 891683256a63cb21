"""The form for making or editing an assistant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from app.assistants.pages.sampling_form import SamplingForm
from app.assistants.values.assistants import LONGEST_NAME, Assistant, Preset
from app.documents.collections.pages.collection_choice import CollectionChoice
from app.documents.collections.values import DocumentCollection
from app.kit.look.theme import GRID
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.panel import Panel
from app.models.library.pages.model_box import ModelBox
from app.models.library.values.entry import ModelEntry
from app.settings.values.fields import Settings
from app.settings.values.resolved import NO_LAYERS, SettingLayers, Source, resolve


class AssistantForm(Panel):
    """The form of an assistant. Nothing is stored until the receiver of `saved` does so.

    Args:
        settings: The app's settings, which apply where the assistant sets nothing.

    Signals:
        saved(Assistant): The user saved the form; the assistant has its values.
        left(): The user cancelled.
    """

    saved = Signal(object)
    cancelled = Signal()

    def __init__(
        self,
        assistant: Assistant,
        settings: Settings,
        models: Sequence[ModelEntry],
        presets: Sequence[Preset],
        collections: Sequence[DocumentCollection],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(
            "card", "assistantForm", margins=(3, 2.5, 3, 2.5), spacing=2, parent=parent
        )
        self._assistant = assistant
        self._settings = settings
        self._values = dict(assistant.settings)
        self._name = QLineEdit(assistant.name)
        self._name.setObjectName("assistantName")
        self._name.setAccessibleName(self.tr("Name"))
        self._name.setPlaceholderText(self.tr("Such as “Proofreader”"))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.textChanged.connect(self._check)
        self._prompt = self._text(assistant.system_prompt, "assistantPrompt", 168)
        self._prompt.setAccessibleName(self.tr("System prompt"))
        self._prompt.setPlaceholderText(self.tr("You are… Answer with… Never…"))
        self._greeting = self._text(assistant.greeting, "assistantGreeting", 72)
        self._greeting.setAccessibleName(self.tr("Greeting"))
        self._model = ModelBox("assistantModel", self.tr("Default"))
        self._model.show_models(models, assistant.model)
        self._documents = CollectionChoice("assistantDocuments")
        self._documents.show_collections(collections, assistant.collections)
        self.sampling = SamplingForm("assistant", self._source)
        self.sampling.changed.connect(self._set)
        self.sampling.preset.connect(self._apply_preset)
        self.sampling.show_presets(presets)
        self._show()
        self._add(self.tr("Name"), "", self._name)
        self._add(
            self.tr("System prompt"),
            self.tr("Who the assistant is and how it should answer. It is sent with every chat."),
            self._prompt,
        )
        self._add(
            self.tr("Greeting"),
            self.tr("The first message of a new chat. Leave it empty for none."),
            self._greeting,
        )
        self._add(self.tr("Model"), "", self._model)
        self._add(
            self.tr("Documents"),
            self.tr("Collections that its answers use."),
            self._documents,
        )
        self._add(
            self.tr("Its answers"),
            self.tr("Anything not set here follows the model and the settings."),
            self.sampling,
        )
        self.box.addLayout(self._buttons())
        self._check()

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
        return self.tr("Set here") if source == "assistant" else self.tr("Default")

    def _check(self) -> None:
        self._save.setEnabled(bool(self._name.text().strip()))

    def _emit_saved(self) -> None:
        self.saved.emit(
            replace(
                self._assistant,
                name=" ".join(self._name.text().split()),
                system_prompt=self._prompt.toPlainText().strip(),
                greeting=self._greeting.toPlainText().strip(),
                model=self._model.chosen_model,
                settings=self._values,
                collections=self._documents.choice,
            )
        )

    def _add(self, title: str, words: str, widget: QWidget) -> None:
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(Label(title, "strong"))
        if words:
            column.addWidget(Label(words, "small", wrap=True))
        column.addWidget(widget)
        self.box.addLayout(column)

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addStretch(1)
        leave = LabelledButton("close", self.tr("Cancel"), "leaveAssistant")
        leave.clicked.connect(self.cancelled)
        self._save = LabelledButton(
            "check", self.tr("Save"), "saveAssistant", look="primary", tone="on_accent"
        )
        self._save.clicked.connect(self._emit_saved)
        row.addWidget(leave)
        row.addWidget(self._save)
        return row

    def _text(self, text: str, name: str, height: int) -> QPlainTextEdit:
        edit = QPlainTextEdit(text)
        edit.setObjectName(name)
        edit.setTabChangesFocus(True)
        edit.setFixedHeight(height)
        return edit
