"""Assistants and presets for the window: held in memory, saved on the store's queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.assistants.store.assistants import AssistantStore
from app.assistants.values.assistants import PRESETS, SAMPLING, Assistant, Preset, free_name
from app.assistants.values.prompts import fill_in
from app.assistants.values.suggested_assistants import SUGGESTED
from app.base.ids import new_id
from app.kit.tasks.tasks import STORE, Tasks
from app.settings.values.fields import Settings


class Assistants(QObject):
    """The user's assistants and presets. There are few, so all are held in memory.

    Signals:
        changed(): The list or something in it has changed.
        failed(error): A change was not saved; it lasts until the window closes.
    """

    changed = Signal()
    failed = Signal(Exception)

    def __init__(self, store: AssistantStore, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._tasks = tasks
        self._assistants = {item.id: item for item in store.assistants()}
        self._presets = {item.id: item for item in store.presets()}

    def all(self) -> list[Assistant]:
        """Return the user's assistants, in the order in which they were made."""
        return list(self._assistants.values())

    def get(self, assistant_id: str | None) -> Assistant | None:
        """Return the assistant with this id; None if it does not exist or was removed."""
        return self._assistants.get(assistant_id) if assistant_id else None

    def suggested(self) -> list[Assistant]:
        """Return Hearth's suggestions, without those whose name an assistant already has."""
        names = {item.name for item in self._assistants.values()}
        return [item for item in SUGGESTED if item.name not in names]

    def copy(self, draft: Assistant, values: dict[str, str] | None = None) -> Assistant:
        """Make a new assistant from another one or from a suggestion.

        Args:
            values: The values of the variables in its texts, by name.
        """
        variables = values or {}
        name = free_name(
            fill_in(draft.name, variables), {item.name for item in self._assistants.values()}
        )
        assistant = replace(
            draft,
            id=new_id(),
            name=name,
            system_prompt=fill_in(draft.system_prompt, variables),
            greeting=fill_in(draft.greeting, variables),
        )
        self.save(assistant)
        return assistant

    def save(self, assistant: Assistant) -> None:
        """Save an assistant; a removed one is added again at the end."""
        self._assistants[assistant.id] = assistant
        self._write(lambda: self._store.save(assistant))

    def remove(self, assistant_id: str) -> Assistant | None:
        """Remove an assistant, and return it, so that `save` can undo this."""
        removed = self._assistants.pop(assistant_id, None)
        self._write(lambda: self._store.remove(assistant_id))
        return removed

    def presets(self) -> tuple[Preset, ...]:
        """Return Hearth's presets, then the user's own."""
        return (*PRESETS, *self._presets.values())

    def create_preset(self, name: str, settings: Settings) -> Preset:
        """Make a preset from the sampling values of these settings."""
        names = {item.name for item in self.presets()}
        values = {item: getattr(settings, item) for item in SAMPLING}
        preset = Preset(new_id(), free_name(name, names), values)
        self.save_preset(preset)
        return preset

    def save_preset(self, preset: Preset) -> None:
        """Save a preset; a removed one is added again."""
        self._presets[preset.id] = preset
        self._write(lambda: self._store.save_preset(preset))

    def remove_preset(self, preset_id: str) -> Preset | None:
        """Remove a preset, and return it, so that `save_preset` can undo this."""
        removed = self._presets.pop(preset_id, None)
        self._write(lambda: self._store.remove_preset(preset_id))
        return removed

    def _write(self, change: Callable[[], None]) -> None:
        self._tasks.run(change, lambda _: None, self.failed.emit, on=STORE)
        self.changed.emit()
