"""The settings of chats for the window: read at once, saved on the store's queue.

A chat id of None stands for the chat that begins with the next question: its settings are kept here
and stored with that question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.assistants.presenters.assistants import Assistants
from app.assistants.values.assistants import Assistant, NewChat, Preset
from app.chats.answers.services.chat_layers import layers_of
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.kit.tasks.tasks import STORE, Tasks
from app.models.library.services.library import Library
from app.settings.presenters import SettingsService
from app.settings.values.fields import Settings
from app.settings.values.resolved import ResolvedSettings, resolve


class ChatSettings(QObject):
    """Reads and changes the settings of chats.

    Signals:
        changed(chat_id or None): The chat's settings changed.
        failed(error): Settings could not be saved.
    """

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
        local_fallback: Callable[[str], str] = lambda usual: usual,
        *,
        begins_here: bool = False,
    ) -> None:
        """Create the presenter.

        Args:
            local_fallback: See `app.chats.answers.services.answers.Answers`.
            begins_here: Whether a new chat also avoids a server until the user chooses one for it.
        """
        super().__init__(parent)
        self._local_fallback = local_fallback
        self._begins_here = begins_here
        self._store = store
        self._assistants = assistants
        self._library = library
        self._settings = settings
        self._tasks = tasks
        self._next = NewChat()
        self._unsaved: dict[str, NewChat] = {}

    def own(self, chat_id: str | None) -> NewChat:
        """Return the chat's own settings, including unsaved ones."""
        if chat_id is None:
            return self._next
        return self._unsaved.get(chat_id) or self._store.get(chat_id)

    def assistant(self, chat_id: str | None) -> Assistant | None:
        """Return the chat's assistant; None if it has none."""
        return self._assistants.get(self.own(chat_id).assistant_id)

    def resolve(self, chat_id: str | None) -> ResolvedSettings:
        """Resolve the settings of the chat's next answer."""
        own = self.own(chat_id)
        layers = layers_of(own, self._assistants.get(own.assistant_id))
        settings, own_when_listed = self._settings.current, self._library.own_when_listed
        if chat_id is None and not self._begins_here:
            return resolve(settings, own_when_listed, layers)
        return resolve(settings, own_when_listed, layers, self._local_fallback)

    def with_model(self, chat_id: str | None, model: str) -> Settings:
        """Return the settings that the chat's answers would have with another model."""
        own = self.own(chat_id)
        layers = layers_of(own, self._assistants.get(own.assistant_id))
        layers = replace(layers, message={"model": model})
        return resolve(self._settings.current, self._library.own_when_listed, layers).settings

    def model(self, chat_id: str | None) -> str:
        """Return the id, name or path of the model that answers in the chat."""
        return self.resolve(chat_id).settings.model

    def withheld_model(self, chat_id: str | None) -> str | None:
        """Return the usual model if it is withheld from the chat's text, else None.

        It is withheld if it runs on a server and the user has not chosen it for this chat.
        """
        resolved, usual = self.resolve(chat_id), self._settings.current.model
        nobody = resolved.source("model") == "settings"
        return usual if nobody and resolved.settings.model != usual else None

    def set(self, chat_id: str | None, name: str, value: object) -> None:
        """Set one of the chat's own settings; None removes it.

        Raises:
            SettingsInvalid: The value is not allowed.
        """
        if value is not None:
            value = getattr(Settings().changed(name, value), name)
        self._merge(chat_id, {name: value})

    def set_preset(self, chat_id: str | None, preset: Preset) -> None:
        """Apply a preset to the chat."""
        self._merge(chat_id, preset.settings)

    def set_model(self, chat_id: str | None, model: str | None) -> None:
        """Set the chat's model; None leaves it to the assistant and the settings."""
        self._change(chat_id, replace(self.own(chat_id), model=model, usual=False))

    def set_assistant(self, chat_id: str | None, assistant_id: str | None) -> None:
        """Set the chat's assistant; its greeting goes into a chat that has not begun.

        If the assistant has a model, that replaces the chat's own.
        """
        assistant = self._assistants.get(assistant_id)
        own = replace(self.own(chat_id), assistant_id=assistant_id)
        if assistant is not None and assistant.model:
            own = replace(own, model=None)
        self._change(chat_id, own)

    def collections(self, chat_id: str | None) -> tuple[str, ...]:
        """Return the ids of the chat's own collections, or else those of its assistant."""
        own = self.own(chat_id)
        if own.collections is not None:
            return own.collections
        assistant = self._assistants.get(own.assistant_id)
        return assistant.collections if assistant is not None else ()

    def set_collections(self, chat_id: str | None, collections: tuple[str, ...] | None) -> None:
        """Set the chat's own collections; None leaves them to its assistant."""
        self._change(chat_id, replace(self.own(chat_id), collections=collections))

    def begins(self) -> NewChat:
        """Return the settings of a chat that begins now, which include the model it will keep."""
        own, assistant = self._next, self._assistants.get(self._next.assistant_id)
        if own.model is None and not (assistant and assistant.model):
            own = replace(own, model=self.model(None), usual=True)
        return replace(own, greeting=assistant.greeting.strip() if assistant else "")

    def fresh(self) -> None:
        """Reset the settings of the next new chat."""
        self._next = NewChat()
        self.changed.emit(None)

    def _merge(self, chat_id: str | None, values: Mapping[str, object]) -> None:
        own = self.own(chat_id)
        merged = {**own.settings, **values}
        settings = {name: value for name, value in merged.items() if value is not None}
        self._change(chat_id, replace(own, settings=settings))

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
