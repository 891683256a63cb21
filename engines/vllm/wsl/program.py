"""Runs wsl.exe, the one way into the Linux of a Windows."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.vllm.provision.lock import Pythons
from engines.vllm.provision.preflight import SystemInfo
from engines.vllm.provision.system_info import free_bytes, nearest
from engines.vllm.provision.windows import Wsl2
from engines.vllm.wsl.listing import Said, decoded, wsl2
from engines.vllm.wsl.system_info import question, system_info_of

_LIST_S: Final = 20.0
_START_S: Final = 90.0
"""A distribution that rests starts in some seconds, its machine before it in some more."""

_NO_WINDOW: Final = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Else Windows opens a console for it. There is no such flag elsewhere."""


@dataclass(frozen=True)
class Wsl:
    """The program wsl.exe, or what stands in for it."""

    program: str

    def look(self, folder: Path, pythons: Pythons, wanted: str = "") -> SystemInfo:
        """Look up what the Linux to be used has, or why there is none; takes some seconds.

        folder: Hearth's, in Windows. wanted: the distribution that goes before the usual one.
        """
        found = self.find(wanted)
        if found.state != "ready":
            return SystemInfo("win32", "", None, wsl=found)
        said = self.ask(self.within(found.name, question(nearest(folder), pythons)), _START_S)
        info = system_info_of(said.text, found.name, free_bytes(folder))
        if info is None:
            return SystemInfo("win32", "", None, wsl=Wsl2("broken", found.name, said.last))
        if info.wsl is not None and info.wsl.state != "ready":
            return SystemInfo("win32", "", None, wsl=info.wsl)
        return info

    def find(self, wanted: str = "") -> Wsl2:
        """Find the distribution to be used. Nothing is started."""
        status = self.ask([self.program, "--status"], _LIST_S)
        if status.status is None or status.late:
            return wsl2(status, status, status)
        names = self.ask([self.program, "--list", "--quiet"], _LIST_S)
        table = self.ask([self.program, "--list", "--verbose"], _LIST_S)
        return wsl2(status, names, table, wanted)

    def has(self, name: str) -> bool:
        """Tell whether there is a distribution of a name; while nobody answers, there may be."""
        said = self.ask([self.program, "--list", "--quiet"], _LIST_S)
        return said.late or name in map(str.strip, said.text.splitlines())

    def within(self, name: str, words: Sequence[str]) -> list[str]:
        """Return the words that run others in a distribution, past any shell, with `--exec`."""
        return [self.program, "--distribution", name, "--exec", *words]

    def ask(self, words: Sequence[str], limit_s: float) -> Said:
        """Run a command to its end; returns its output."""
        try:
            result = subprocess.run(
                list(words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=limit_s,
                creationflags=_NO_WINDOW,
                env=_variables(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Said(1, late=True)
        except OSError:
            return Said(None)
        return Said(result.returncode, decoded(result.stdout), decoded(result.stderr))

    def start(self, words: Sequence[str], *, apart: bool = False) -> subprocess.Popen[bytes]:
        """Start a command with all three streams; apart: errors are not among its output.

        It has to be given an end of its input, or killed. Raises OSError.
        """
        return subprocess.Popen(
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if apart else subprocess.STDOUT,
            creationflags=_NO_WINDOW,
            env=_variables(),
            bufsize=0,
        )


def _variables() -> dict[str, str]:
    """Return variables that make wsl.exe write UTF-8 if it can; its Linux gets none of them."""
    return os.environ | {"WSL_UTF8": "1"}
