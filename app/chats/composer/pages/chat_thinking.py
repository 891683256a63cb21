"""Thinking in the window: the model's abilities, and the choice of the open chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.chats.answers.presenters.model_thinking import ModelThinking, ThinkingFacts, of_loaded
from app.chats.composer.pages.thinking_switch import OFF, ON, ThinkingSwitch

if TYPE_CHECKING:
    from app.chats.answers.presenters.generation import Generation
    from app.chats.answers.values.answers import Ready
    from app.chats.composer.pages.composer import Composer
    from app.chats.presenters.open_chat import OpenChat


class ChatThinking(QObject):
    """The connection of the composer's thinking switch with the presenters.

    Each chat has its own choice, stored as one of its settings. Until the user makes one, the
    general settings apply, or else the model's default.

    Signals:
        changed(): The model's abilities or the choice have changed.
    """

    changed = Signal()

    def __init__(
        self,
        composer: Composer,
        thinking: ModelThinking,
        chat: OpenChat,
        generation: Generation,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._switch = switch = ThinkingSwitch()
        composer.options.add(switch, switch.fill)
        self._thinking = thinking
        self._chat = chat
        self._model = ""
        self._known: dict[str, ThinkingFacts] = {}
        switch.chosen.connect(self._choose)
        thinking.known.connect(self._update_facts)
        thinking.crashed.connect(generation.crashed)
        generation.ready.connect(self._ready)
        for signal in (chat.opened, chat.stored, chat.changed):
            signal.connect(self.show)

    @property
    def choice(self) -> str:
        """The choice of the open chat."""
        return self._switch.choice

    @property
    def thinks(self) -> bool:
        """True if the chat's model is known to be able to think before it answers."""
        facts = self._known.get(self._model)
        return facts is not None and facts.thinking != "none"

    def show(self) -> None:
        """Show the choice of the open chat."""
        settings = self._chat.settings
        if settings.model != self._model:
            self._model = settings.model
            self._thinking.request(settings.model)
        choice = ""
        if settings.thinking == OFF:
            choice = OFF
        elif settings.effort != "model":
            choice = settings.effort
        elif settings.thinking == ON:
            choice = ON
        self._switch.show_facts(self._known.get(self._model), choice)
        self.changed.emit()

    def _update_facts(self, model: str, facts: ThinkingFacts | None) -> None:
        if facts is not None:
            self._known[model] = facts
        if model == self._model:
            self.show()

    def _ready(self, _answer_id: str, ready: Ready) -> None:
        self._known[ready.entry.id] = self._known[ready.entry.name] = of_loaded(ready.loaded)
        self.show()

    def _choose(self, key: str) -> None:
        if key in {OFF, ON}:
            self._chat.set("thinking", key)
            return
        self._chat.set("thinking", ON)
        self._chat.set("effort", key)
