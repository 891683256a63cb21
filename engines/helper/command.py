"""The words that start a module of Hearth as a program of its own, in a checkout and packaged."""

from __future__ import annotations

import sys
from pathlib import Path


def module_command(name: str) -> tuple[str, ...]:
    """Return the words that run a module of Hearth in a process of its own.

    A packaged Hearth has no Python beside it: there its own program takes the name of a module, see
    `app.packaged`. Python is told to import nothing from the folder that it happens to be in.
    """
    if getattr(sys, "frozen", False):
        return (_program(sys.executable), "-m", name)
    return (sys.executable, "-P", "-m", name)


def _program(running: str) -> str:
    """Return the packaged program that speaks to who starts it.

    Windows has two of them. The one that opens the window has no streams of its own, and shows a
    dialog when it fails: a helper is neither to be silent nor to be seen.
    """
    path = Path(running)
    return str(path.with_name("hearth.exe")) if path.name.lower() == "hearthw.exe" else running
