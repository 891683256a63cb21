"""The chat that a page shows, for everything around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

if TYPE_CHECKING:
    from app.assistants.values.assistants import Assistant, NewChat, Preset
    from app.chats.history.presenters.chat_settings import ChatSettings
    from app.chats.history.presenters.chats import Chats
    from app.chats.history.values.chat import ListedChat
    from app.settings.values.fields import Settings
    from app.settings.values.resolved import ResolvedSettings


class OpenChat(QObject):
    """The open chat; at first the new chat, which is stored with its first question.

    Args:
        chats: The stored chats.
        chat_settings: The settings of chats.

    Signals:
        opened(is_other): A chat was opened; False if it was open already.
        stored(): The new chat was stored, and has an id from now on.
        changed(): The chat's own settings have changed.
        failed(error): Settings could not be saved.
    """

    opened = Signal(bool)
    stored = Signal()
    changed = Signal()
    failed = Signal(Exception)

    def __init__(
        self, chats: Chats, chat_settings: ChatSettings, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._chats = chats
        self._chat_settings = chat_settings
        self._id: str | None = None
        chat_settings.changed.connect(self._pass_on)
        chat_settings.failed.connect(self.failed)

    @property
    def id(self) -> str | None:
        """The id; None for the new chat."""
        return self._id

    @property
    def listed(self) -> ListedChat | None:
        """The chat with its title and place; None for the new chat or if it is gone."""
        return self._chats.chat(self._id) if self._id is not None else None

    @property
    def own(self) -> NewChat:
        """The chat's own settings."""
        return self._chat_settings.own(self._id)

    @property
    def resolved(self) -> ResolvedSettings:
        """The settings of the chat's next answer, with their sources."""
        return self._chat_settings.resolve(self._id)

    @property
    def settings(self) -> Settings:
        """The settings of the chat's next answer."""
        return self.resolved.settings

    @property
    def model(self) -> str:
        """The id, name or path of the model that answers."""
        return self._chat_settings.model(self._id)

    @property
    def withheld_model(self) -> str | None:
        """The usual model if it is withheld from the chat's text; see `ChatSettings`."""
        return self._chat_settings.withheld_model(self._id)

    @property
    def assistant(self) -> Assistant | None:
        """The assistant; None if it has none."""
        return self._chat_settings.assistant(self._id)

    @property
    def collections(self) -> tuple[str, ...]:
        """The ids of the chat's collections, or else of its assistant's."""
        return self._chat_settings.collections(self._id)

    @property
    def begins(self) -> NewChat | None:
        """The settings with which the next question begins the chat; None if it has begun."""
        return self._chat_settings.begins() if self._id is None else None

    def with_model(self, model: str) -> Settings:
        """Return the settings that the chat's answers would have with another model."""
        return self._chat_settings.with_model(self._id, model)

    def open(self, chat_id: str | None) -> None:
        """Open a chat; None opens the new chat, with fresh settings."""
        if chat_id is None:
            self._chat_settings.fresh()
        is_other = chat_id != self._id
        self._id = chat_id
        self.opened.emit(is_other)

    def adopt(self, chat_id: str) -> None:
        """Take the id under which the new chat was stored."""
        self._id = chat_id
        self.stored.emit()
        self._chat_settings.fresh()

    def set(self, name: str, value: object) -> None:
        """Set one of the chat's own settings; None removes it.

        Raises:
            SettingsInvalid: The value is not allowed.
        """
        self._chat_settings.set(self._id, name, value)

    def set_preset(self, preset: Preset) -> None:
        """Apply a preset."""
        self._chat_settings.set_preset(self._id, preset)

    def set_model(self, model: str | None) -> None:
        """Set the model; None leaves it to the assistant and the settings."""
        self._chat_settings.set_model(self._id, model)

    def set_assistant(self, assistant_id: str | None) -> None:
        """Set the assistant; see `ChatSettings`."""
        self._chat_settings.set_assistant(self._id, assistant_id)

    def set_collections(self, collections: tuple[str, ...] | None) -> None:
        """Set the chat's own collections; None leaves them to its assistant."""
        self._chat_settings.set_collections(self._id, collections)

    def _pass_on(self, chat_id: str | None) -> None:
        if chat_id == self._id:
            self.changed.emit()
