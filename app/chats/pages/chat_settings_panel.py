"""The panel beside the chat with its settings and the source of each value."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from app.assistants.pages.layered_setting import LayeredSetting
from app.assistants.pages.sampling_form import SamplingForm
from app.assistants.values.assistants import Assistant, NewChat, Preset
from app.documents.collections.pages.collection_choice import CollectionChoice
from app.documents.collections.values import DocumentCollection
from app.kit.look.theme import GRID
from app.kit.widgets.column_page import ColumnPage
from app.kit.widgets.fields import ComboBox
from app.kit.widgets.icon_button import IconButton
from app.kit.widgets.label import Label
from app.kit.widgets.labelled_button import LabelledButton
from app.kit.widgets.layouts import keep_room
from app.models.library.pages.model_box import ModelBox
from app.models.library.pages.names import name_of
from app.models.library.values.entry import ModelEntry
from app.settings.values.fields import fields
from app.settings.values.resolved import ResolvedSettings, Source


class ChatSettingsPanel(QWidget):
    """The panel with the settings of a chat.

    Signals:
        changed(name, value): The user changed a setting; None resets it.
        model(id): The user chose a model; None for the default.
        assistant(id): The user chose an assistant; None for none.
        collections(ids): The user chose collections, a tuple of ids; None uses the assistant's.
        close_me(): The user wants to close the panel.
    """

    changed = Signal(str, object)
    model = Signal(object)
    assistant = Signal(object)
    collections = Signal(object)
    close_me = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("chatSettings")
        self.setProperty("look", "side")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.sampling = SamplingForm("chat", self._source)
        self._assistants = ComboBox()
        self._assistants.setObjectName("chatAssistant")
        self._assistants.setAccessibleName(self.tr("Assistant"))
        self._assistants.setMinimumContentsLength(12)
        self._assistants.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._assistants.activated.connect(
            lambda _: self.assistant.emit(self._assistants.currentData())
        )
        self._models = ModelBox("chatModel", self.tr("Default"))
        self._models.chosen.connect(self.model)
        self._model_source = Label("", "small", name="source-model")
        self._documents = CollectionChoice("chatDocuments")
        self._documents.chosen.connect(self.collections)
        self._documents_source = Label("", "small", name="source-collections")
        self._leave_documents = LabelledButton(
            "again", self.tr("Reset"), "take-back-collections", look="link"
        )
        self._leave_documents.setAccessibleName(
            self.tr("Reset {title}").format(title=self.tr("Documents"))
        )
        self._leave_documents.clicked.connect(lambda: self.collections.emit(None))
        keep_room(self._leave_documents)
        self._prompt = LayeredSetting("system_prompt", fields()["system_prompt"], "")
        self._prompt.changed.connect(self.changed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head())
        page = ColumnPage("chatSettingsPage", spacing=2 * GRID)
        page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page.column.addWidget(Label(self.tr("For this chat only."), "muted", wrap=True))
        page.column.addLayout(self._titled(self.tr("Assistant"), self._assistants))
        page.column.addLayout(self._titled(self.tr("Model"), self._models, self._model_source))
        page.column.addLayout(self._titled_documents())
        page.column.addWidget(self._prompt)
        page.column.addWidget(self.sampling)
        page.column.addStretch(1)
        column.addWidget(page, 1)

    def show_chat(
        self,
        settings: ResolvedSettings,
        own: NewChat,
        assistants: Sequence[Assistant],
        models: Sequence[ModelEntry],
        presets: Sequence[Preset],
        collections: Sequence[DocumentCollection],
        chosen: Sequence[str],
    ) -> None:
        """Show the settings of a chat.

        Args:
            settings: The resolved settings of the chat.
            own: The chat's own settings.
            assistants: The assistants to choose from.
            models: The models to choose from.
            presets: The presets to choose from.
            collections: The collections to choose from.
            chosen: The ids of the chat's collections, chosen by the user or by the assistant.
        """
        self._show_assistants(assistants, own.assistant_id)
        self._models.show_models(models, own.model)
        self._model_source.setText(
            self._source(settings.source("model"))
            if own.model
            else self._default_model_text(settings, models)
        )
        source = settings.source("system_prompt")
        self._prompt.show_value(
            settings.settings.system_prompt, self._source(source), own=source == "chat"
        )
        self._show_documents(collections, chosen, own)
        self.sampling.show_presets(presets)
        self.sampling.show_settings(settings)

    def _show_documents(
        self, collections: Sequence[DocumentCollection], chosen: Sequence[str], own: NewChat
    ) -> None:
        self._documents.show_collections(collections, chosen)
        by_assistant = own.collections is None and bool(chosen)
        self._documents_source.setText(self._source("assistant") if by_assistant else "")
        self._leave_documents.setVisible(own.collections is not None)

    def _titled_documents(self) -> QVBoxLayout:
        column = self._titled(self.tr("Documents"), self._documents)
        source_row = QHBoxLayout()
        source_row.setSpacing(GRID)
        source_row.addWidget(self._documents_source)
        source_row.addStretch(1)
        source_row.addWidget(self._leave_documents)
        column.addLayout(source_row)
        return column

    def _default_model_text(self, settings: ResolvedSettings, models: Sequence[ModelEntry]) -> str:
        model_name = settings.settings.model
        name = next(
            (name_of(model) for model in models if model_name in (model.id, model.name)), model_name
        )
        source = self._source(settings.source("model"))
        words = self.tr("{name}, {source}") if source else "{name}"
        return words.format(name=name, source=source)

    def _show_assistants(self, assistants: Sequence[Assistant], chosen: str | None) -> None:
        self._assistants.clear()
        self._assistants.addItem(self.tr("No assistant"), None)
        for assistant in assistants:
            self._assistants.addItem(assistant.name, assistant.id)
        self._assistants.setCurrentIndex(max(0, self._assistants.findData(chosen)))

    def _source(self, source: Source) -> str:
        words = {
            "settings": "",
            "model": self.tr("Set for the model"),
            "assistant": self.tr("Set by the assistant"),
            "chat": self.tr("Set here"),
            "message": self.tr("Set for this message"),
        }
        return words[source]

    def _titled(self, title: str, *widgets: QWidget) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(4)
        label = Label(title, "strong")
        label.setBuddy(widgets[0])
        for widget in (label, *widgets):
            column.addWidget(widget)
        return column

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(3 * GRID, 12, 2 * GRID, 0)
        row.addWidget(Label(self.tr("Chat settings"), "title"), 1)
        close = IconButton("close", self.tr("Close the chat settings"), "closeChatSettings")
        close.clicked.connect(self.close_me)
        row.addWidget(close)
        return row
