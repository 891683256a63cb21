"""The portable wheel of llama.cpp, if installers/native/build.py has made one."""

from __future__ import annotations

import zipfile
from pathlib import Path

import run
from installers.native import wheels

WHEEL = next(
    (it for it in wheels.in_folder(run.DIST) if not wheels.why_unusable(it, run.NATIVE_LOCK)), None
)


def unpack_wheel(folder: Path) -> Path:
    """Unpack the wheel for Python's path, where it comes before the installed one."""
    assert WHEEL is not None
    with zipfile.ZipFile(WHEEL) as archive:
        archive.extractall(folder)
    return folder
