"""A small JSON file of results that can be found again if the file is lost."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from engines.private import make_private_folder, private, replacing
from engines.sentences import packed, unpacked

logger = logging.getLogger(__name__)

T = TypeVar("T")


class KeptFile:
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
                found = json.loads(file.read() or b"")
            if not isinstance(found, dict):
                raise ValueError("it holds no names with values")
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            logger.warning("%s cannot be read and counts as empty: %s", self._path.name, error)
            return {}
        return unpacked(found)

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


def with_newest(pages: Mapping[str, T], key: str, page: T, most: int) -> dict[str, T]:
    """Return the pages with this one added as the newest; drop the oldest beyond `most`."""
    others = {known: kept for known, kept in pages.items() if known != key}
    return dict([*others.items(), (key, page)][-most:])
