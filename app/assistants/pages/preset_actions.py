"""The actions on presets for every form in the window."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.assistants.presenters.assistants import Assistants
from app.assistants.values.assistants import LONGEST_NAME
from app.kit.notify import Notifier
from app.kit.widgets.form import ask_name
from app.settings.values.fields import Settings


class PresetActions(QObject):
    """Saves and deletes presets; asks for a name, and offers to undo a deletion."""

    def __init__(self, service: Assistants, notifier: Notifier, window: QWidget) -> None:
        super().__init__(window)
        self._service = service
        self._notifier = notifier
        self._window = window

    def save(self, settings: Settings) -> None:
        """Ask for a name, and save the sampling of these settings as a preset."""

        def save(name: str, done: Callable[[], None], _: object) -> None:
            self._service.create_preset(name, settings)
            done()

        ask_name(
            self._window.window(),
            "presetName",
            self.tr("Save as a preset"),
            save,
            self._notifier.error,
            longest=LONGEST_NAME,
        )

    def delete(self, preset_id: str) -> None:
        """Delete a preset, and offer to undo that."""
        removed = self._service.remove_preset(preset_id)
        if removed is not None:
            text = self.tr("The preset “{name}” was deleted.").format(name=removed.name)
            self._notifier.offer_undo(text, lambda: self._service.save_preset(removed))
