"""Keeps what is compiled at every start from one start to the next, as Python does for modules."""

from __future__ import annotations

import builtins
import marshal
import os
import sys
from collections.abc import Collection
from contextlib import suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

_Codes = dict[tuple[str, bytes], CodeType]
"""By the source's name and its bytes, so that what was kept of another source is never taken."""


class KeptCode:
    """While it is entered, `compile` takes from a file what was compiled on an earlier start.

    It is for sources that are handed over as bytes, with a name and the mode "exec", and that name
    the features of `__future__` that they want themselves; everything else is compiled as ever.
    Sources of the names in `unused` are empty. Where there was something new, all that was asked
    for is written on leaving, if Python may write what it compiles; a file that cannot be read or
    written costs the time that it would have saved.
    """

    def __init__(self, place: Path, unused: Collection[str] = ()) -> None:
        self._place = place
        self._unused = unused
        self._compile = builtins.compile
        self._kept: _Codes = {}
        self._used: _Codes = {}

    def __enter__(self) -> None:
        self._kept = _read(self._place)
        builtins.compile = self._take

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        builtins.compile = self._compile
        if not (self._used.keys() <= self._kept.keys() or sys.dont_write_bytecode):
            _write(self._place, self._used)

    def _take(self, source: Any, filename: Any, mode: str, *rest: Any, **settings: Any) -> Any:
        if not isinstance(source, bytes) or mode != "exec" or rest or settings:
            return self._compile(source, filename, mode, *rest, **settings)
        if filename in self._unused:
            source = b""
        code = self._kept.get((filename, source))
        if code is None:
            code = self._compile(source, filename, mode, dont_inherit=True)
        self._used[filename, source] = code
        return code


def _read(place: Path) -> _Codes:
    """Nothing if the file is of another Python, or damaged."""
    with suppress(OSError, EOFError, ValueError, TypeError):
        content = place.read_bytes()
        if content.startswith(MAGIC_NUMBER):
            codes = marshal.loads(content[len(MAGIC_NUMBER) :])  # noqa: S302 - as Python reads its own
            return codes if isinstance(codes, dict) else {}
    return {}


def _write(place: Path, codes: _Codes) -> None:
    """Whole or not at all: another start may be reading."""
    partial = place.with_suffix(f".{os.getpid()}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(MAGIC_NUMBER + marshal.dumps(codes))
        partial.replace(place)
    except OSError:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
