"""The portable wheel of llama.cpp, where installers/native/build.py has made one."""

from __future__ import annotations

import zipfile
from pathlib import Path

import run
from installers.native import wheels

WHEEL = next(
    (it for it in wheels.in_folder(run.DIST) if not wheels.why_unusable(it, run.NATIVE_LOCK)), None
)


def unpack_wheel(folder: Path) -> Path:
    """Unpack it for Python's path, where it goes before the one that is installed."""
    assert WHEEL is not None
    with zipfile.ZipFile(WHEEL) as archive:
        archive.extractall(folder)
    return folder
