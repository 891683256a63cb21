"""A small JSON file of what was found out before: to lose it costs finding it out again."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")

_MOST_BYTES: Final = 64_000_000
"""What is kept is far smaller; reading a file of any size could take all memory."""


class KeptFile:
    """Pages by their keys, read and written whole. path None: nothing is kept.

    A file that is damaged, or cannot be read or written, is no error for the user: it is logged,
    and holds nothing. Another process may write it at the same time; then one of the two holds.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> dict[str, Any]:
        """What each page holds is for the caller to check: anybody can edit the file."""
        if self._path is None:
            return {}
        try:
            found = json.loads(read_file(self._path, _MOST_BYTES))
            if not isinstance(found, dict):
                raise ValueError("it holds no names with values")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("%s cannot be read and counts as empty: %s", self._path.name, error)
            return {}
        return found

    def write(self, pages: Mapping[str, object]) -> None:
        """All of it is there then, or what was there before."""
        if self._path is None:
            return
        unfinished = self._path.with_name(f"{self._path.name}.{os.getpid()}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps(pages, indent=1), encoding="utf-8")
            unfinished.replace(self._path)
        except OSError as error:
            logger.warning("%s was not written: %s", self._path.name, error)
            with suppress(OSError):
                unfinished.unlink()


def read_file(path: Path, most_bytes: int) -> bytes:
    """The content of a file that anybody may have put there. Raises OSError or ValueError.

    What else can have that name, such as a pipe, is not waited for; a larger file is not read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    facts = os.fstat(handle)
    if stat.S_ISDIR(facts.st_mode):
        os.close(handle)
        raise ValueError("it is a folder")
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(facts.st_mode):
            raise ValueError("it is no file")
        if facts.st_size > most_bytes:
            raise ValueError(f"it has {facts.st_size} bytes, far more than it should")
        return file.read(most_bytes)


def with_newest(pages: Mapping[str, T], key: str, page: T, most: int) -> dict[str, T]:
    """The pages with this one as the newest; of more than `most` the oldest leave."""
    others = {known: kept for known, kept in pages.items() if known != key}
    return dict([*others.items(), (key, page)][-most:])
