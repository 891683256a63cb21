"""What holds in a chat, and changing it, for the window: read at once, saved on the store's queue.

A chat of None is the one that begins with the next question: what it is given is kept here, and
goes into the store with that question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.core.chats.assistants import Assistant, NewChat, Preset
from app.core.settings.fields import Settings
from app.core.settings.resolved import ResolvedSettings, resolve
from app.presenters.assistants import Assistants
from app.presenters.settings import SettingsService
from app.presenters.tasks import STORE, Tasks
from app.services.answers.chat_layers import layers_of
from app.services.models.library import Library
from app.store.chat_settings import ChatSettingsStore


class ChatSettings(QObject):
    """changed(chat_id or None): something else holds in this chat. failed(error): not saved."""

    changed = Signal(object)
    failed = Signal(Exception)

    def __init__(
        self,
        store: ChatSettingsStore,
        assistants: Assistants,
        library: Library,
        settings: SettingsService,
        tasks: Tasks,
        parent: QObject | None = None,
        stays: Callable[[str], str] = lambda called: called,
    ) -> None:
        """stays: of the usual model, the one of a stored chat for which nobody has chosen any."""
        super().__init__(parent)
        self._stays = stays
        self._store = store
        self._assistants = assistants
        self._library = library
        self._settings = settings
        self._tasks = tasks
        self._next = NewChat()
        self._unsaved: dict[str, NewChat] = {}

    def own(self, chat_id: str | None) -> NewChat:
        """What the chat has of its own, also before that is saved."""
        if chat_id is None:
            return self._next
        return self._unsaved.get(chat_id) or self._store.get(chat_id)

    def assistant(self, chat_id: str | None) -> Assistant | None:
        return self._assistants.get(self.own(chat_id).assistant_id)

    def resolve(self, chat_id: str | None) -> ResolvedSettings:
        """What the next answer in this chat is written with, and where it comes from."""
        own = self.own(chat_id)
        layers = layers_of(own, self._assistants.get(own.assistant_id))
        settings = self._settings.current
        if chat_id is not None and layers.model is None:
            settings = replace(settings, model=self._stays(settings.model))
        return resolve(settings, self._library.own_at_once, layers)

    def model(self, chat_id: str | None) -> str:
        """The id, name or path of the model that answers in it."""
        return self.resolve(chat_id).settings.model

    def kept_from(self, chat_id: str | None) -> str | None:
        """The usual model, at a server, where this chat has not been sent to one by anybody."""
        own, usual = self.own(chat_id), self._settings.current.model
        chosen = own.model or (it.model if (it := self.assistant(chat_id)) else None)
        return usual if chat_id and not chosen and self._stays(usual) != usual else None

    def set(self, chat_id: str | None, name: str, value: object) -> None:
        """Give the chat a setting of its own; None takes it back.

        Raises SettingsInvalid.
        """
        if value is not None:
            value = getattr(Settings().changed(name, value), name)
        self._merge(chat_id, {name: value})

    def set_preset(self, chat_id: str | None, preset: Preset) -> None:
        """Have the chat's answers drawn as a preset says."""
        self._merge(chat_id, preset.settings)

    def set_model(self, chat_id: str | None, model: str | None) -> None:
        """None leaves it to the assistant and the settings."""
        self._change(chat_id, replace(self.own(chat_id), model=model))

    def set_assistant(self, chat_id: str | None, assistant_id: str | None) -> None:
        """Its greeting becomes part of a chat that has not begun.

        A model of the assistant's own takes the place of the one that the chat had.
        """
        assistant = self._assistants.get(assistant_id)
        own = replace(self.own(chat_id), assistant_id=assistant_id)
        if assistant is not None and assistant.model:
            own = replace(own, model=None)
        self._change(chat_id, own)

    def begins(self) -> NewChat:
        """What a chat that begins now has of its own; it keeps the model that it begins with."""
        own, assistant = self._next, self._assistants.get(self._next.assistant_id)
        if own.model is None and not (assistant and assistant.model):
            own = replace(own, model=self._settings.current.model, usual=True)
        return replace(own, greeting=assistant.greeting.strip() if assistant else "")

    def fresh(self) -> None:
        """The next chat begins with nothing of its own."""
        self._next = NewChat()
        self.changed.emit(None)

    def _merge(self, chat_id: str | None, values: Mapping[str, object]) -> None:
        own = self.own(chat_id)
        merged = {**own.settings, **values}
        kept = {name: value for name, value in merged.items() if value is not None}
        self._change(chat_id, replace(own, settings=kept))

    def _change(self, chat_id: str | None, own: NewChat) -> None:
        if chat_id is None:
            self._next = own
        else:
            self._save(chat_id, own)
        self.changed.emit(chat_id)

    def _save(self, chat_id: str, own: NewChat) -> None:
        self._unsaved[chat_id] = own

        def saved(_: None) -> None:
            if self._unsaved.get(chat_id) is own:
                del self._unsaved[chat_id]

        self._tasks.run(lambda: self._store.save(chat_id, own), saved, self.failed.emit, on=STORE)
