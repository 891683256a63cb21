"""The words that start a module of Hearth as a program of its own, in a checkout and packaged."""

from __future__ import annotations

import sys


def module_command(name: str) -> tuple[str, ...]:
    """Return the words that run a module of Hearth in a process of its own.

    A packaged Hearth has no Python beside it: there its own program takes the name of a module, see
    `app.packaged`. Python is told to import nothing from the folder that it happens to be in.
    """
    if getattr(sys, "frozen", False):
        return (sys.executable, "-m", name)
    return (sys.executable, "-P", "-m", name)
