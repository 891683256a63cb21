"""Starts a packaged Hearth: the app, or one of its modules in a process of its own.

A package has one program, and no Python beside it. So what `module_command` asks of Python in a
checkout, the program does itself here: `hearth -m MODULE WORDS`. No other module can be named than
those of Hearth, so that the program is no Python for whoever finds it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import MutableMapping

_OURS = ("app.", "engines.")


def main() -> int:
    """Run Hearth or the module that is named; returns the exit status."""
    if getattr(sys, "frozen", False):
        give_back_paths(os.environ)
    words = sys.argv[1:]
    if words[:1] == ["-m"] and len(words) > 1 and words[1].startswith(_OURS):
        return _run_module(words[1], words[2:])
    if any("multiprocessing" in word for word in words):
        # Python starts helpers of its own with such words; this ends the process if it is one.
        from multiprocessing import freeze_support

        freeze_support()
    from app.__main__ import main as start

    return start()


def give_back_paths(environment: MutableMapping[str, str]) -> None:
    """Take out of the environment what the package's start has put there for this process.

    The system has read its path for libraries by now, and Qt finds its plug-ins without a
    variable. A browser, a file manager or a Python that Hearth starts needs those of the system.
    """
    for name in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    before = environment.pop("LD_LIBRARY_PATH_ORIG", None)
    if before is not None:
        environment["LD_LIBRARY_PATH"] = before


def _run_module(name: str, words: list[str]) -> int:
    """Run a module as Python's -m does."""
    from runpy import run_module

    sys.argv[1:] = words
    run_module(name, run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
