"""Reads the layers of settings that a stored chat and its assistant set for an answer."""

from __future__ import annotations

from dataclasses import replace

from app.assistants.store.assistants import AssistantStore
from app.assistants.values.assistants import CHAT_SETTINGS, Assistant, NewChat
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.settings.values.models import valid_settings
from app.settings.values.resolved import SettingLayers


class ChatLayers:
    """Reads the setting layers of stored chats. Qt-free; usable from any thread."""

    def __init__(self, chats: ChatSettingsStore, assistants: AssistantStore) -> None:
        self._chats = chats
        self._assistants = assistants

    def of(self, chat_id: str) -> SettingLayers:
        """Return the settings of a chat, with its switches, and of its assistant."""
        own = self._chats.get(chat_id)
        layers = layers_of(own, self._assistants.assistant(own.assistant_id))
        return replace(layers, chat={**layers.chat, **self._chats.switches(chat_id)})

    def collections(self, chat_id: str) -> tuple[str, ...]:
        """Return the ids of the collections that ground a chat's answers."""
        own = self._chats.get(chat_id)
        if own.collections is not None:
            return own.collections
        assistant = self._assistants.assistant(own.assistant_id)
        return assistant.collections if assistant else ()


def layers_of(own: NewChat, assistant: Assistant | None) -> SettingLayers:
    """Build layers from the values that are still allowed; limits can have become narrower."""
    chat = {
        name: value for name, value in valid_settings(own.settings).items() if name in CHAT_SETTINGS
    }
    return SettingLayers(
        assistant=assistant.allowed_values if assistant else {},
        chat={**chat, **({"model": own.model} if own.model else {})},
        message={},
        is_default_model=own.usual and own.model is not None,
    )
