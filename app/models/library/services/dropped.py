"""Tells by their content which files and folders are models."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from app.models.library.values.dropped import ModelKind
from engines.models.checkpoint import is_checkpoint
from engines.models.gguf.pieces import is_named_like_a_model
from engines.models.gguf.reader import MAGIC
from engines.regular import open_regular

_MOST_FOLDERS: Final = 200
"""How many folders inside a dropped one are looked into."""
_HEAD_BYTES: Final = 9


def model_kind(path: Path) -> ModelKind | None:
    """Return the kind of a file or folder of models; None for anything else.

    It reads a few bytes of a file, and lists a folder until it finds a model.
    """
    if path.is_dir():
        return _folder_kind(path)
    start = _start(path)
    if start.startswith(MAGIC):
        return "model"
    if is_named_like_a_model(path):
        return "no_model"
    return "weights" if _is_safetensors(path, start) else None


def _folder_kind(folder: Path) -> ModelKind | None:
    for number, (inner, folders, names) in enumerate(os.walk(folder)):
        if is_checkpoint(names):
            return "model" if inner == str(folder) else "models"
        if any(_start(Path(inner, name)).startswith(MAGIC) for name in names if _is_gguf(name)):
            return "models"
        if number >= _MOST_FOLDERS:
            break
        folders.sort()
    return None


def _is_gguf(name: str) -> bool:
    return name.lower().endswith(".gguf")


def _is_safetensors(path: Path, start: bytes) -> bool:
    """Return whether a file begins like safetensors: the length of its header, then JSON."""
    if start[8:9] != b"{":
        return False
    return 0 < int.from_bytes(start[:8], "little") < path.stat().st_size


def _start(path: Path) -> bytes:
    """Return the first bytes of a file; none if it cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(_HEAD_BYTES)
    except (OSError, ValueError):
        return b""
