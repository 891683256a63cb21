"""The choice of the assistant and the settings of the open chat."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.assistants.pages.assistant_picker import AssistantPicker
from app.assistants.pages.preset_actions import PresetActions
from app.chats.pages.chat_page import ChatPage
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.models.library.pages.chooser import ModelChooser
from engines.errors import UserError

if TYPE_CHECKING:
    from app.assistants.presenters.assistants import Assistants
    from app.chats.pages.chat_settings_panel import ChatSettingsPanel
    from app.chats.presenters.open_chat import OpenChat
    from app.documents.collections.presenters import Collections
    from app.settings.presenters import SettingsService


class AssistantsController(QObject):
    """The connection of the assistant picker and the chat settings panel with the presenters."""

    def __init__(
        self,
        page: ChatPage,
        chat: OpenChat,
        chooser: ModelChooser,
        assistants: Assistants,
        collections: Collections,
        settings: SettingsService,
        notifier: Notifier,
        navigation: Navigation,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._chooser = chooser
        self._chat = chat
        self._assistants = assistants
        self._collections = collections
        self._settings = settings
        self._notifier = notifier
        self._navigation = navigation
        self.picker = AssistantPicker()
        self._presets = PresetActions(assistants, notifier, page)
        self._shown_model = ""
        page.welcome.put_first(self.picker)
        for signal in (chat.opened, chat.stored, chat.changed):
            signal.connect(self.show)
        for presenter in (assistants, collections, settings):
            presenter.changed.connect(self.show)
        self.picker.chosen.connect(chat.set_assistant)
        self.picker.show_all.connect(lambda: navigation.go_to("assistants", "assistants"))

    @cached_property
    def panel(self) -> ChatSettingsPanel:
        """The panel with the chat's settings, created on first use."""
        from app.chats.pages.chat_settings_panel import ChatSettingsPanel

        chat, panel = self._chat, ChatSettingsPanel()
        panel.hide()
        panel.close_me.connect(self.toggle_panel)
        panel.changed.connect(self._set)
        panel.model.connect(chat.set_model)
        panel.assistant.connect(chat.set_assistant)
        panel.collections.connect(chat.set_collections)
        panel.sampling.changed.connect(self._set)
        panel.sampling.preset.connect(chat.set_preset)
        panel.sampling.save_preset.connect(lambda: self._presets.save(chat.settings))
        panel.sampling.delete_preset.connect(self._presets.delete)
        return panel

    def toggle_panel(self) -> None:
        """Show or hide the settings of the open chat beside it."""
        self._navigation.show_panel(self.panel if self.panel.isHidden() else None)
        self._chooser.judge()
        self.show()

    def show(self) -> None:
        """Show the settings of the open chat."""
        chat, assistants = self._chat, self._assistants
        if chat.id is None:
            self.picker.show_assistants(assistants.all(), chat.assistant)
        if "panel" in vars(self) and not self.panel.isHidden():
            self.panel.show_chat(
                chat.resolved,
                chat.own,
                assistants.all(),
                self._chooser.entries(),
                assistants.presets(),
                self._collections.all(),
                chat.collections,
            )
        model = chat.model
        if model != self._shown_model:
            self._shown_model = model
            self._chooser.announce()
            self._page.apply(self._settings.current)

    def _set(self, name: str, value: object) -> None:
        try:
            self._chat.set(name, value)
        except UserError as error:
            self._notifier.error(error)
