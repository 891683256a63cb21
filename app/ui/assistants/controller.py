"""Assistants, prompts, the settings of a chat and the scratch chat, in the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from app.core.chats.assistants import Preset
from app.ui.assistants.assistant_picker import AssistantPicker
from app.ui.assistants.preset_keeper import PresetKeeper
from app.ui.prompts.prompt_use import PromptUse
from app.ui.widgets.room import grow_for
from engines.errors import UserError

if TYPE_CHECKING:
    from app.ui.assistants.assistants_page import AssistantsPage, Part
    from app.ui.assistants.chat_settings_panel import ChatSettingsPanel
    from app.ui.assistants.scratch_window import ScratchWindow
    from app.ui.window.main_window import MainWindow


class AssistantsController(QObject):
    """Brings the services and the widgets together; what the widgets show is theirs.

    page and panel are made when they are first asked for. report: makes the text about a bug.
    """

    def __init__(self, window: MainWindow, report: Callable[[BaseException], str]) -> None:
        super().__init__(window)
        self._window = window
        self._services = window.services
        self._report = report
        self._chat = window.services.chat_settings
        self.picker = AssistantPicker()
        self.prompts = PromptUse(
            window.services.prompts, window.page.composer.edit, window.page.transcript
        )
        self.scratch: ScratchWindow | None = None
        self._presets = PresetKeeper(window.services.assistants, window.notifier, window)
        self._shown_model = ""
        window.page.welcome.put_first(self.picker)
        window.installEventFilter(self)
        self._connect()

    @cached_property
    def page(self) -> AssistantsPage:
        from app.ui.assistants.assistants_page import AssistantsPage

        page = AssistantsPage(self._services, self._window.notifier)
        page.back.connect(self._window.go_to_chat)
        page.chat.connect(self.begin_with)
        self._window.add_page(page)
        return page

    @cached_property
    def panel(self) -> ChatSettingsPanel:
        from app.ui.assistants.chat_settings_panel import ChatSettingsPanel

        window, chat, panel = self._window, self._chat, ChatSettingsPanel()
        panel.hide()
        panel.close_me.connect(self.toggle_panel)
        panel.changed.connect(self._set)
        panel.model.connect(lambda model: chat.set_model(window.page.chat_id, model))
        panel.assistant.connect(lambda chosen: chat.set_assistant(window.page.chat_id, chosen))
        panel.sampling.changed.connect(self._set)
        panel.sampling.preset.connect(self._use)
        panel.sampling.keep.connect(
            lambda: self._presets.keep(chat.resolve(window.page.chat_id).settings)
        )
        panel.sampling.drop.connect(self._presets.drop)
        window.add_panel(panel)
        return panel

    def show_page(self, part: Part = "assistants") -> None:
        self.page.show_part(part)
        self._window.go_to(self.page)

    def toggle_panel(self) -> None:
        """The settings of the chat that is open, beside it; a narrow window grows for them."""
        self.panel.setVisible(self.panel.isHidden())
        if not self.panel.isHidden():
            grow_for(self.panel)
        self.show()

    def open_scratch(self) -> None:
        """The one that is open, or a new one."""
        if self.scratch is None:
            from app.ui.assistants.scratch_window import ScratchWindow

            services = self._services
            self.scratch = ScratchWindow(
                services.open_scratch(),
                services.prompts,
                services.settings,
                self._report,
                services.log_file,
                lambda: services.is_offline,
                self._window.switching.place_of,
            )
            self.scratch.page.fixes.wanted.connect(self._window.switching.mend)
            self._window.models_shown.connect(self.scratch.show_place)
            self.scratch.gone.connect(self._scratch_gone)
        self.scratch.show()
        self.scratch.raise_()
        self.scratch.activateWindow()

    def discreet(self, error: BaseException) -> BaseException:
        """An error as it may be written down: without its words while a scratch chat is open."""
        if self.scratch is None:
            return error
        from app.ui.assistants.scratch_window import without_words

        return without_words(error)

    def begin_with(self, assistant_id: str) -> None:
        """A new chat with this assistant."""
        self._window.new_chat()
        self._chat.set_assistant(None, assistant_id)

    def show(self) -> None:
        """What holds in the chat that is open."""
        chat_id = self._window.page.chat_id
        assistants = self._services.assistants
        if chat_id is None:
            self.picker.show_assistants(assistants.all(), self._chat.assistant(None))
        if "panel" in vars(self) and not self.panel.isHidden():
            self.panel.show_chat(
                self._chat.resolve(chat_id),
                self._chat.own(chat_id),
                assistants.all(),
                self._window.chooser.entries(),
                assistants.presets(),
            )
        model = self._chat.model(chat_id)
        if model != self._shown_model:
            self._shown_model = model
            self._window.show_models()
            self._window.page.apply(self._services.settings.current)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """With the window the scratch chat goes, which may ask to stay."""
        if watched is self._window and event.type() is QEvent.Type.Close and self.scratch:
            self.scratch.close()
            if self.scratch is not None:
                self.open_scratch()
                event.ignore()
                return True
        return super().eventFilter(watched, event)

    def _connect(self) -> None:
        window, chat = self._window, self._chat
        window.page.shown.connect(self.show)
        chat.changed.connect(self.show)
        chat.failed.connect(window.notifier.error)
        self._services.assistants.changed.connect(self.show)
        self._services.settings.changed.connect(self.show)
        self.picker.chosen.connect(lambda chosen: chat.set_assistant(None, chosen))
        self.picker.show_all.connect(self.show_page)

    def _set(self, name: str, value: object) -> None:
        try:
            self._chat.set(self._window.page.chat_id, name, value)
        except UserError as error:
            self._window.notifier.error(error)

    def _use(self, preset: Preset) -> None:
        self._chat.set_preset(self._window.page.chat_id, preset)

    def _scratch_gone(self) -> None:
        self.scratch = None
