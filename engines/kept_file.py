"""A small JSON file of what was found out before: to lose it costs finding it out again."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from engines.private import make_private_folder, private

logger = logging.getLogger(__name__)

T = TypeVar("T")


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
            with open(self._path, "rb", opener=private) as file:
                found = json.loads(file.read() or b"")
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
            make_private_folder(self._path.parent)
            with open(unfinished, "w", encoding="utf-8", opener=private) as file:
                json.dump(pages, file, indent=1)
            unfinished.replace(self._path)
        except OSError as error:
            logger.warning("%s was not written: %s", self._path.name, error)
            with suppress(OSError):
                unfinished.unlink()


def with_newest(pages: Mapping[str, T], key: str, page: T, most: int) -> dict[str, T]:
    """The pages with this one as the newest; of more than `most` the oldest leave."""
    others = {known: kept for known, kept in pages.items() if known != key}
    return dict([*others.items(), (key, page)][-most:])
