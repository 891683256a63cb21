"""wsl.exe, the one way into the Linux of a Windows: asked, and told to run words there."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.vllm.provision.facts import free_bytes, nearest
from engines.vllm.provision.lock import Pythons
from engines.vllm.provision.preflight import Facts
from engines.vllm.provision.windows import Wsl2
from engines.vllm.wsl.facts import facts_of, question
from engines.vllm.wsl.listing import Said, decoded, wsl2

_LIST_S: Final = 20.0
_START_S: Final = 90.0
"""A distribution that rests starts in some seconds, its machine before it in some more."""

_NO_WINDOW: Final = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Else Windows opens a console for it. There is no such flag elsewhere."""


@dataclass(frozen=True)
class Wsl:
    """program: wsl.exe, or what stands in for it."""

    program: str

    def look(self, folder: Path, pythons: Pythons, wanted: str = "") -> Facts:
        """What the Linux has that is to be used, or why there is none; some seconds.

        folder: Hearth's, in Windows. wanted: the distribution that goes before the usual one.
        """
        found = self.find(wanted)
        if found.state != "ready":
            return Facts("win32", "", None, wsl=found)
        said = self.ask(self.within(found.name, question(nearest(folder), pythons)), _START_S)
        facts = facts_of(said.text, found.name, free_bytes(folder))
        if facts is None:
            return Facts("win32", "", None, wsl=Wsl2("broken", found.name, said.last))
        if facts.wsl is not None and facts.wsl.state != "ready":
            return Facts("win32", "", None, wsl=facts.wsl)
        return facts

    def find(self, wanted: str = "") -> Wsl2:
        """Which distribution there is. Nothing is started."""
        status = self.ask([self.program, "--status"], _LIST_S)
        if status.status is None or status.late:
            return wsl2(status, status, status)
        names = self.ask([self.program, "--list", "--quiet"], _LIST_S)
        table = self.ask([self.program, "--list", "--verbose"], _LIST_S)
        return wsl2(status, names, table, wanted)

    def has(self, name: str) -> bool:
        """Whether there is a distribution of a name; while nobody answers, there may be."""
        said = self.ask([self.program, "--list", "--quiet"], _LIST_S)
        return said.late or name in map(str.strip, said.text.splitlines())

    def within(self, name: str, words: Sequence[str]) -> list[str]:
        """The words that run others in a distribution: `--exec` takes them past any shell."""
        return [self.program, "--distribution", name, "--exec", *words]

    def ask(self, words: Sequence[str], limit_s: float) -> Said:
        """What a command says before its end."""
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
        """A command with all three streams; apart: the errors are not among its output.

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
    """So that a wsl.exe that can says all in UTF-8; into its Linux nothing of them goes."""
    return os.environ | {"WSL_UTF8": "1"}
