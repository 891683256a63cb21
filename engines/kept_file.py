"""A small JSON file of findings: to lose it costs finding them again."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from engines.private import make_private_folder, private, replacing

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
        """Read the pages; their content is for the caller to check: anybody can edit the file."""
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
        """Write all pages, or leave what was there before."""
        if self._path is None:
            return
        try:
            make_private_folder(self._path.parent)
            with replacing(self._path) as file:
                file.write_text(json.dumps(pages, indent=1), encoding="utf-8")
        except OSError as error:
            logger.warning("%s was not written: %s", self._path.name, error)


def with_newest(pages: Mapping[str, T], key: str, page: T, most: int) -> dict[str, T]:
    """Return the pages with this one as the newest; of more than `most` the oldest leave."""
    others = {known: kept for known, kept in pages.items() if known != key}
    return dict([*others.items(), (key, page)][-most:])
