"""The window's state in a file of its own; it is not a setting, and its loss does no harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from app.base.folder import read_file, write_atomically
from app.window.values.window_state import WindowState

_MOST_BYTES: Final = 4_000_000
_WIDEST: Final = 10_000


class WindowStateFile:
    """The file with the window's state."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> WindowState:
        """Read the state; return the default if the file is missing or invalid."""
        try:
            values = json.loads(read_file(self._path, _MOST_BYTES))
            return WindowState(
                geometry=str(values["geometry"]),
                sidebar=bool(values["sidebar"]),
                sidebar_width=max(0, min(int(values["sidebar_width"]), _WIDEST)),
                folded=tuple(str(folder) for folder in values.get("folded", ())),
                chat=str(values.get("chat", "")),
            )
        except (OSError, ArithmeticError, ValueError, KeyError, TypeError, RecursionError):
            return WindowState()

    def write(self, state: WindowState) -> None:
        """Write the state.

        Raises:
            DataFolderReadOnly: The data folder cannot be written to.
            DiskFull: The disk has no room.
        """
        write_atomically(self._path, json.dumps(state._asdict()))
