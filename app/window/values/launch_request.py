"""The purpose of a start of Hearth, as one line that a second start sends to the first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class LaunchRequest(NamedTuple):
    """The request of a start of Hearth: what to show or open.

    quick_ask: show the small window alone. files: to be opened, with whole paths. link: as it was
    written, whoever wrote it; see `app.window.values.links`.
    """

    quick_ask: bool = False
    files: tuple[Path, ...] = ()
    link: str = ""

    def to_line(self) -> bytes:
        files = [str(path) for path in self.files]
        said = {"quick_ask": self.quick_ask, "files": files, "link": self.link}
        return json.dumps(said).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> LaunchRequest:
        """Read a request from a line; one that cannot be read asks just for the window."""
        try:
            said = json.loads(line)
            files = tuple(Path(path) for path in said["files"])
            return cls(bool(said["quick_ask"]), files, str(said.get("link", "")))
        except (ValueError, KeyError, TypeError):
            return cls()
