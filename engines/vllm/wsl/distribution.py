"""A WSL2 distribution, in which a helper program of Hearth carries out orders."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from engines.cancel import CancelToken
from engines.errors import EngineFailed
from engines.sentences import N_
from engines.vllm.provision.child import CommandFailed
from engines.vllm.wsl.pack import packed
from engines.vllm.wsl.program import Wsl
from engines.vllm.wsl.scripts import START
from engines.vllm.wsl.session import WslSession

_PYTHONS: Final = ("python3.12", "python3.13", "python3.11", "python3.14")


@dataclass(frozen=True)
class Distribution:
    """A WSL2 distribution.

    Attributes:
        wsl: The program wsl.exe.
        folder: Windows folder for the file that contains Hearth's helper program.
    """

    wsl: Wsl
    name: str
    folder: Path

    def open_session(self, cancel: CancelToken | None = None) -> WslSession:
        """Open a session for orders. Raises OSError if the helper program cannot be written."""
        pack = packed(self.folder)
        return WslSession(
            self.name, lambda: self.start("serve", pack), pack, cancel or CancelToken()
        )

    def run_once(self, order_name: str, **order: Any) -> Any:
        """Carry out one order in its own session. Raises EngineFailed, EngineUnavailable."""
        try:
            with self.open_session() as session:
                return session.ask(order_name, **order)
        except (CommandFailed, OSError) as error:
            raise EngineFailed(
                N_(
                    "A step failed in {name}, the Linux inside Windows.",
                    name=self.name,
                ),
                N_("It says: {sentence}", sentence=getattr(error, "last", "") or error),
                N_("Run “wsl -d {name}” to see whether it starts, then try again.", name=self.name),
            ) from error

    def start(
        self, role: str, pack: Path, *, separate_errors: bool = False
    ) -> subprocess.Popen[bytes]:
        """Start the helper program in the distribution; see `Wsl.start`. Raises OSError.

        Args:
            role: "guard" or "serve"; see `inside`.
            pack: The file that contains the helper program.
            separate_errors: Keep errors separate from the output.
        """
        words = ["sh", "-c", START, "hearth", pack.as_posix(), role, *_PYTHONS]
        return self.wsl.start(
            self.wsl.command_in(self.name, words), separate_errors=separate_errors
        )

    def guardian(self) -> subprocess.Popen[bytes]:
        """Start a guardian that waits for its order, with errors separate. Raises OSError."""
        return self.start("guard", packed(self.folder), separate_errors=True)
