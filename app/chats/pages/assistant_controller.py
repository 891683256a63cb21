"""The choice of the assistant and the settings of the open chat."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.assistants.pages.assistant_picker import AssistantPicker
from app.assistants.pages.preset_actions import PresetActions
from app.assistants.values.assistants import Preset
from app.chats.pages.chat_page import ChatPage
from app.kit.navigation import Navigation
from app.kit.notify import Notifier
from app.models.library.pages.chooser import ModelChooser
from engines.errors import UserError

if TYPE_CHECKING:
    from app.chats.pages.chat_settings_panel import ChatSettingsPanel
    from app.window.presenters.window import WindowPresenters


class AssistantsController(QObject):
    """The connection of the assistant picker and the chat settings panel with the presenters."""

    def __init__(
        self,
        page: ChatPage,
        chooser: ModelChooser,
        presenters: WindowPresenters,
        notifier: Notifier,
        navigation: Navigation,
    ) -> None:
        super().__init__(page)
        self._page = page
        self._chooser = chooser
        self._presenters = presenters
        self._chat = presenters.chat_settings
        self._notifier = notifier
        self._navigation = navigation
        self.picker = AssistantPicker()
        self._presets = PresetActions(presenters.assistants, notifier, page)
        self._shown_model = ""
        page.welcome.put_first(self.picker)
        page.shown.connect(self.show)
        self._chat.changed.connect(self.show)
        self._chat.failed.connect(notifier.error)
        presenters.assistants.changed.connect(self.show)
        presenters.settings.changed.connect(self.show)
        presenters.collections.changed.connect(self.show)
        self.picker.chosen.connect(lambda chosen: self._chat.set_assistant(None, chosen))
        self.picker.show_all.connect(lambda: navigation.go_to("assistants", "assistants"))

    @cached_property
    def panel(self) -> ChatSettingsPanel:
        """The panel with the chat's settings, created on first use."""
        from app.chats.pages.chat_settings_panel import ChatSettingsPanel

        page, chat, panel = self._page, self._chat, ChatSettingsPanel()
        panel.hide()
        panel.close_me.connect(self.toggle_panel)
        panel.changed.connect(self._set)
        panel.model.connect(lambda model: chat.set_model(page.chat_id, model))
        panel.assistant.connect(lambda chosen: chat.set_assistant(page.chat_id, chosen))
        panel.collections.connect(lambda chosen: chat.set_collections(page.chat_id, chosen))
        panel.sampling.changed.connect(self._set)
        panel.sampling.preset.connect(self._use)
        panel.sampling.save_preset.connect(
            lambda: self._presets.save(chat.resolve(page.chat_id).settings)
        )
        panel.sampling.delete_preset.connect(self._presets.delete)
        return panel

    def toggle_panel(self) -> None:
        """Show or hide the settings of the open chat beside it."""
        self._navigation.show_panel(self.panel if self.panel.isHidden() else None)
        self.show()

    def show(self) -> None:
        """Show the settings of the open chat."""
        chat_id = self._page.chat_id
        assistants = self._presenters.assistants
        if chat_id is None:
            self.picker.show_assistants(assistants.all(), self._chat.assistant(None))
        if "panel" in vars(self) and not self.panel.isHidden():
            self.panel.show_chat(
                self._chat.resolve(chat_id),
                self._chat.own(chat_id),
                assistants.all(),
                self._chooser.entries(),
                assistants.presets(),
                self._presenters.collections.all(),
                self._chat.collections(chat_id),
            )
        model = self._chat.model(chat_id)
        if model != self._shown_model:
            self._shown_model = model
            self._chooser.tell()
            self._page.apply(self._presenters.settings.current)

    def _set(self, name: str, value: object) -> None:
        try:
            self._chat.set(self._page.chat_id, name, value)
        except UserError as error:
            self._notifier.error(error)

    def _use(self, preset: Preset) -> None:
        self._chat.set_preset(self._page.chat_id, preset)
