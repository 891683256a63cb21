"""The request of a start of Hearth, which a second start sends to the first as one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple


class LaunchRequest(NamedTuple):
    """The request of a start of Hearth to show or open something.

    Attributes:
        quick_ask: Show only the quick-ask window.
        files: Files to open, as absolute paths.
        link: A link as it was written, not checked; see `app.window.values.links`.
    """

    quick_ask: bool = False
    files: tuple[Path, ...] = ()
    link: str = ""

    def to_line(self) -> bytes:
        """Write the request as one line of JSON."""
        files = [str(path) for path in self.files]
        fields = {"quick_ask": self.quick_ask, "files": files, "link": self.link}
        return json.dumps(fields).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> LaunchRequest:
        """Read a request from a line; an invalid line just asks for the window."""
        try:
            fields = json.loads(line)
            files = tuple(Path(path) for path in fields["files"])
            return cls(bool(fields["quick_ask"]), files, str(fields.get("link", "")))
        except (ValueError, KeyError, TypeError):
            return cls()
