"""The window's state in a file of its own: it is not a setting, and losing it costs nothing."""

from __future__ import annotations

import json
from pathlib import Path

from app.core.window_state import WindowState
from app.store.folder import write_whole


class WindowStateFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> WindowState:
        """The state as it was kept; the default where there is none that can be read."""
        try:
            values = json.loads(self._path.read_text(encoding="utf-8"))
            return WindowState(
                geometry=str(values["geometry"]),
                sidebar=bool(values["sidebar"]),
                sidebar_width=int(values["sidebar_width"]),
                folded=tuple(str(folder) for folder in values.get("folded", ())),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return WindowState()

    def write(self, state: WindowState) -> None:
        """Raises DataFolderReadOnly or DiskFull."""
        write_whole(self._path, json.dumps(state._asdict()))
