"""Runs wsl.exe, the only way into the Linux inside Windows."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.disk import free_bytes, nearest
from engines.vllm.provision.lock import Pythons
from engines.vllm.provision.preflight import SystemInfo
from engines.vllm.provision.windows import Wsl2
from engines.vllm.wsl.listing import CommandResult, decoded, judge_wsl2
from engines.vllm.wsl.system_info import question, system_info_of

LIST_S: Final = 20.0
_START_S: Final = 90.0
"""A sleeping distribution takes some seconds to start, and its virtual machine some more."""

_NO_WINDOW: Final = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""Prevents Windows from opening a console window; other systems have no such flag."""


@dataclass(frozen=True)
class Wsl:
    """The program wsl.exe, or a stand-in for it."""

    program: str

    def examine(self, folder: Path, pythons: Pythons, preferred: str = "") -> SystemInfo:
        """Return the facts about the chosen distribution, or why there is none; takes seconds.

        Args:
            folder: Hearth's folder, in Windows.
            pythons: Versions of Python to look for.
            preferred: Distribution to prefer to the default one.
        """
        state = self.find(preferred)
        if state.state != "ready":
            return SystemInfo("win32", "", None, wsl=state)
        result = self.run(self.command_in(state.name, question(nearest(folder), pythons)), _START_S)
        info = system_info_of(result.text, state.name, free_bytes(folder))
        if info is None:
            return SystemInfo("win32", "", None, wsl=Wsl2("broken", state.name, result.last))
        if info.wsl is not None and info.wsl.state != "ready":
            return SystemInfo("win32", "", None, wsl=info.wsl)
        return info

    def find(self, preferred: str = "") -> Wsl2:
        """Find the distribution to use, without starting it."""
        status = self.run([self.program, "--status"], LIST_S)
        if status.status is None or status.timed_out:
            return judge_wsl2(status, status, status)
        names = self.run([self.program, "--list", "--quiet"], LIST_S)
        table = self.run([self.program, "--list", "--verbose"], LIST_S)
        return judge_wsl2(status, names, table, preferred)

    def has(self, name: str) -> bool:
        """Return whether a distribution exists; True if wsl.exe does not answer in time."""
        result = self.run([self.program, "--list", "--quiet"], LIST_S)
        return result.timed_out or name in map(str.strip, result.text.splitlines())

    def command_in(self, name: str, words: Sequence[str]) -> list[str]:
        """Return the words that run a command in a distribution without a shell, by `--exec`."""
        return [self.program, "--distribution", name, "--exec", *words]

    def run(self, words: Sequence[str], limit_s: float) -> CommandResult:
        """Run a command until it ends, and return its result."""
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
            return CommandResult(1, timed_out=True)
        except OSError:
            return CommandResult(None)
        return CommandResult(result.returncode, decoded(result.stdout), decoded(result.stderr))

    def start(
        self, words: Sequence[str], *, separate_errors: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start a command with pipes for all three streams.

        The caller has to close the input or kill the process.

        Args:
            separate_errors: Keep errors separate from the output.

        Raises:
            OSError: The command cannot be started.
        """
        return subprocess.Popen(
            list(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if separate_errors else subprocess.STDOUT,
            creationflags=_NO_WINDOW,
            env=_variables(),
            bufsize=0,
        )


def _variables() -> dict[str, str]:
    """Return variables that make wsl.exe write UTF-8 if it can; they do not reach its Linux."""
    return os.environ | {"WSL_UTF8": "1"}
