"""The settings as a file a person can read and edit."""

from __future__ import annotations

import json
from pathlib import Path

from app.core.errors import SettingsInvalid
from app.core.settings import RENAMED, Settings
from app.store.folder import write_whole


class SettingsFile:
    """Holds what differs from the defaults; written whole and renamed into place."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Settings:
        """The settings; the defaults where there is no file. Raises SettingsInvalid."""
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Settings()
        try:
            values = {RENAMED.get(name, name): value for name, value in json.loads(text).items()}
            return Settings.of(values)
        except (ValueError, AttributeError) as error:
            raise SettingsInvalid(
                "The settings file cannot be read.",
                f"{self._path}: {_reason(error)}",
                "Mend that line, or delete the file to go back to the defaults.",
            ) from error

    def write(self, settings: Settings) -> None:
        """Raises DataFolderReadOnly or DiskFull; then the old file is still there."""
        values = settings.changes()
        write_whole(self._path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def _reason(error: Exception) -> str:
    if isinstance(error, AttributeError):
        return "it does not hold a list of names and values."
    return f"{error}."
