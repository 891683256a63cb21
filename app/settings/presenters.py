"""The current settings of the window, and changes to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.settings.store import SettingsFile
from app.settings.values.fields import Settings

if TYPE_CHECKING:
    from app.settings.services import RequireModel


class SettingsService(QObject):
    """The current settings.

    Attributes:
        faults: The parts of the settings file that could not be used at the start.
        shows_all_options: Whether the form shows all settings; not stored.

    Signals:
        changed(settings): The new settings are on disk.
    """

    changed = Signal(object)

    def __init__(self, file: SettingsFile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file
        loaded = file.load()
        self._current, self.faults = loaded.settings, loaded.faults
        self._require_model: RequireModel = lambda _: None
        self.shows_all_options = False

    @property
    def current(self) -> Settings:
        """The settings that apply now."""
        return self._current

    def set_model_check(self, require_model: RequireModel) -> None:
        """Set the check for names of models that a setting is about to get.

        Args:
            require_model: Checks a name against the models that are known, without looking for
                more.
        """
        self._require_model = require_model

    def set(self, name: str, value: object) -> None:
        """Change a setting.

        Raises NoSuchSetting, ModelUnknown, SettingsInvalid, DataFolderReadOnly or DiskFull.
        """
        changed = self._current.changed(name, value)
        if changed == self._current:
            return
        from app.settings.services import require_usable

        require_usable(name, getattr(changed, name), None, self._require_model, settings=changed)
        self._file.write(changed)
        self._current = changed
        self.changed.emit(changed)
