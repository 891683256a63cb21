"""What model files say of themselves, read once for as long as they stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from engines.errors import EngineError
from engines.gguf_header import GgufHeader, read_architecture, read_header

_File = tuple[Path, int, int]
"""A file as it is now: its path, size and time of change."""


class Headers:
    """May be used from any thread: at worst two of them read the same file."""

    def __init__(self) -> None:
        self._headers: dict[_File, GgufHeader] = {}
        self._architectures: dict[_File, str] = {}

    def read(self, path: Path) -> GgufHeader:
        """The whole header (up to half a second for a large vocabulary). Raises EngineError."""
        file = _as_it_is(path)
        if file is None:
            return read_header(path)
        if file not in self._headers:
            self._headers[file] = read_header(path)
        return self._headers[file]

    def architecture(self, path: Path) -> str:
        """What kind of model it is, from its first bytes; empty if that cannot be told."""
        file = _as_it_is(path)
        if file is None:
            return ""
        if file not in self._architectures:
            self._architectures[file] = read_architecture(path)
        return self._architectures[file]

    def readable(self, paths: Iterable[Path]) -> Iterator[tuple[Path, GgufHeader]]:
        """Of those files that can be read; what is wrong with the others is told elsewhere."""
        for path in paths:
            try:
                header = self.read(path)
            except EngineError:
                continue
            yield path, header


def _as_it_is(path: Path) -> _File | None:
    try:
        facts = path.stat()
    except (OSError, ValueError):
        return None
    return path, facts.st_size, facts.st_mtime_ns
