"""A small JSON file of results that can be found again if the file is lost."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from engines.private import make_private_folder, private, replacing
from engines.sentences import packed, unpacked

logger = logging.getLogger(__name__)

T = TypeVar("T")


class JsonCache:
    """A file of pages by key, always read and written as a whole.

    A file that is damaged or cannot be read or written is not an error for the user: it is logged
    and counts as empty. If another process writes it at the same time, one of the two versions
    stays.

    Args:
        path: None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> dict[str, Any]:
        """Read the pages. The caller must check their content, since anybody can edit the file."""
        if self._path is None:
            return {}
        try:
            with open(self._path, "rb", opener=private) as file:
                pages = json.loads(file.read() or b"")
            if not isinstance(pages, dict):
                raise ValueError("it holds no names with values")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("%s cannot be read and counts as empty: %s", self._path.name, error)
            return {}
        return unpacked(pages)

    def write(self, pages: Mapping[str, object]) -> None:
        """Write all pages, or leave the file unchanged."""
        if self._path is None:
            return
        try:
            make_private_folder(self._path.parent)
            with replacing(self._path) as file:
                file.write_text(json.dumps(packed(dict(pages)), indent=1), encoding="utf-8")
        except OSError as error:
            logger.warning("%s was not written: %s", self._path.name, error)


class ValueCache(Generic[T]):
    """Values by key in such a file, or in memory only. Any thread can use it.

    If the file is lost, only the results that it held are.

    Args:
        path: The file; None keeps the values in memory only.
        read: Turns a page of the file into a value; returns None if it is not one.
        write: Turns a value into a page.
        most: The most values to keep; the oldest are dropped.
    """

    def __init__(
        self,
        path: Path | None,
        read: Callable[[Any], T | None],
        write: Callable[[T], object],
        most: int,
    ) -> None:
        self._file = JsonCache(path)
        self._to_value = read
        self._to_page = write
        self._most = most
        self._lock = threading.Lock()
        self._values = self._read()

    def get(self, key: str) -> T | None:
        """Return a value; None if there is none."""
        return self._values.get(key)

    def keep(self, key: str, value: T) -> None:
        """Keep a value as the newest one."""
        with self._lock:
            # The file is read again: another process may have kept another value.
            values = self._read() | self._values
            values.pop(key, None)
            self._write(dict([*values.items(), (key, value)][-self._most :]))

    def remove(self, key: str) -> None:
        """Remove a value, if there is one."""
        with self._lock:
            if key in self._values:
                self._write({name: value for name, value in self._values.items() if name != key})

    def _read(self) -> dict[str, T]:
        pages = self._file.read().items()
        return {key: value for key, page in pages if (value := self._to_value(page)) is not None}

    def _write(self, values: dict[str, T]) -> None:
        self._values = values
        self._file.write({key: self._to_page(value) for key, value in values.items()})
