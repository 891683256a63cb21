"""The files on this computer that a text names, and which of them an answer can show.

A model can write any path. Only a path that the user has written in the same chat is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_PICTURE = re.compile(
    r"(?:file://[^\s<>\"'`)]+|(?<![\w./\\:~-])(?:~?/|[A-Za-z]:[\\/])[^\n<>\"'`)]*?)"
    r"\.(?:png|jpe?g|gif|webp|bmp)(?![\w./\\-])",
    re.IGNORECASE,
)
_MOST = 6
"""The most pictures shown under one message."""


def local_path(address: str) -> str:
    """Return the absolute path that an address names; "" if relative or on another computer."""
    if address.lower().startswith("file:"):
        parts = urlsplit(address)
        if parts.netloc not in {"", "localhost"}:
            return ""
        path = unquote(parts.path)
        address = path[1:] if _DRIVE.match(path[1:]) else path
    else:
        address = unquote(address)
    if address.startswith(("//", "\\")) or "\0" in address:
        return ""
    return address if address.startswith(("/", "~/")) or _DRIVE.match(address) else ""


def is_named(path: str, texts: Iterable[str]) -> bool:
    """Return whether one of the texts contains exactly this path, or its file URL."""
    pattern = re.compile(rf"(?<![\w.~-]){re.escape(_plain(path))}(?![\w/-]|\.\w)")
    return bool(path) and any(pattern.search(_plain(text)) for text in texts)


def pictures_in(text: str) -> tuple[str, ...]:
    """Return the paths of the pictures that a text names, in order, each once."""
    paths = (local_path(match.group()) for match in _PICTURE.finditer(text))
    return tuple(dict.fromkeys(path for path in paths if path))[:_MOST]


def _plain(text: str) -> str:
    """Normalise the spelling of a path: without a scheme, with slashes, with nothing escaped."""
    return re.sub(r"(?i)file://(?:localhost)?", "", unquote(text)).replace("\\", "/")
