"""A distribution of WSL2, in which a program of Hearth's carries out orders."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.vllm.provision.child import CommandFailed
from engines.vllm.wsl.pack import packed
from engines.vllm.wsl.program import Wsl
from engines.vllm.wsl.scripts import START
from engines.vllm.wsl.session import WslSession

_PYTHONS: Final = ("python3.12", "python3.13", "python3.11", "python3.14")


@dataclass(frozen=True)
class Distribution:
    """A distribution of WSL2. folder: in Windows, for the file with Hearth's program for it."""

    wsl: Wsl
    name: str
    folder: Path

    def talk(self, cancel: CancelToken | None = None) -> WslSession:
        """Open a session for orders. Raises OSError where its file cannot be written."""
        pack = packed(self.folder)
        return WslSession(
            self.name, lambda: self.start("serve", pack), pack, cancel or CancelToken()
        )

    def once(self, do: str, **order: Any) -> Any:
        """Carry out one order in a session of its own. Raises EngineFailed, EngineUnavailable."""
        try:
            with self.talk() as talk:
                return talk.ask(do, **order)
        except (CommandFailed, OSError) as error:
            raise EngineFailed(
                f"Something could not be done in {self.name}, the Linux inside Windows.",
                f"It says: {getattr(error, 'last', '') or error}",
                f"Run “wsl -d {self.name}” to see whether it starts, then try again.",
            ) from error

    def start(self, role: str, pack: Path, *, apart: bool = False) -> subprocess.Popen[bytes]:
        """Start Hearth's program in it; see `Wsl.start`. role: see `inside`. Raises OSError."""
        words = ["sh", "-c", START, "hearth", pack.as_posix(), role, *_PYTHONS]
        return self.wsl.start(self.wsl.within(self.name, words), apart=apart)

    def guardian(self) -> subprocess.Popen[bytes]:
        """Start a guardian that waits for its order, with its errors apart. Raises OSError."""
        return self.start("guard", packed(self.folder), apart=True)
