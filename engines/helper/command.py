"""The command that starts a module of Hearth as a separate program, in a checkout or packaged."""

from __future__ import annotations

import sys
from pathlib import Path


def module_command(name: str) -> tuple[str, ...]:
    """Return the command that runs a module of Hearth in a separate process.

    A packaged Hearth has no Python beside it, so its own program accepts the name of a module; see
    `app.packaged`. Otherwise, -P keeps Python from importing modules from the current folder.
    """
    if getattr(sys, "frozen", False):
        return (_program(sys.executable), "-m", name)
    return (sys.executable, "-P", "-m", name)


def _program(running: str) -> str:
    """Return the packaged program that has standard streams.

    Windows has two programs. The one that opens the window has no streams, and shows a dialog when
    it fails, so it cannot run a helper.
    """
    path = Path(running)
    return str(path.with_name("hearth.exe")) if path.name.lower() == "hearthw.exe" else running
