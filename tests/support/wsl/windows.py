"""A made Windows: a stand-in for its wsl.exe, with distributions that are folders here."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from engines.vllm.processes import Process, processes
from engines.vllm.wsl.program import Wsl

STAND_IN = Path(__file__).with_name("stand_in.py")
_WSLPATH = '#!/bin/sh\n[ -e "$2" ] || exit 1\necho "$2"\n'
_SMI = """#!/bin/sh
case "$1" in
--query*) echo '590.10, 8.9, 24564, 22000, NVIDIA GeForce RTX 4090' ;;
*) echo '| NVIDIA-SMI 590.10   Driver Version: 590.10   CUDA Version: 13.1     |' ;;
esac
"""


class Windows:
    """A made Windows, which has no WSL2 before `add`.

    Args:
        folder: The folder for all its files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "wsl.exe"
        folder.mkdir(parents=True, exist_ok=True)
        _program(
            self.program,
            f'#!/bin/sh\nexec "{_python()}" -S -E "{STAND_IN}" "{folder}" "$@"\n',
        )
        self._facts: dict[str, Any] = {"installed": False, "distributions": {}}
        self.change()

    @property
    def wsl(self) -> Wsl:
        return Wsl(str(self.program))

    def change(self, **facts: Any) -> None:
        """Change the installed state, the distributions or the delay that `stand_in` reads."""
        self._facts |= facts
        (self.folder / "windows.json").write_text(json.dumps(self._facts), encoding="utf-8")

    def add(self, name: str = "Ubuntu", version: int = 2, **facts: Any) -> Path:
        """Add a distribution and return its home. The first one is the default."""
        home, programs = self.folder / name / "home", self.folder / name / "bin"
        home.mkdir(parents=True, exist_ok=True)
        programs.mkdir(exist_ok=True)
        _program(programs / "wslpath", _WSLPATH)
        ours = programs / f"python{sys.version_info[0]}.{sys.version_info[1]}"
        if not ours.exists():
            ours.symlink_to(_python())
        distributions = self._facts["distributions"] | {name: {"version": version, **facts}}
        self.change(installed=True, distributions=distributions)
        return home

    def add_card(self, name: str = "Ubuntu") -> None:
        _program(self.folder / name / "bin" / "nvidia-smi", _SMI)

    def hide_drives(self, name: str = "Ubuntu") -> None:
        """Unmount the drives of Windows."""
        _program(self.folder / name / "bin" / "wslpath", "#!/bin/sh\nexit 1\n")

    def forget(self, name: str = "Ubuntu") -> None:
        """Remove a distribution with everything in it, as the user could."""
        shutil.rmtree(self.folder / name)
        distributions = dict(self._facts["distributions"])
        del distributions[name]
        self.change(distributions=distributions)

    @property
    def asked(self) -> list[list[str]]:
        """The command lines with which wsl.exe was started."""
        try:
            text = (self.folder / "asked.txt").read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.splitlines()]

    def through(self, role: str) -> Process:
        """Return the wsl.exe process through which Hearth plays a role: “serve” or “guard”.

        The process that waits for it inside Linux has the same words, but a session of its own.
        """
        (found,) = [
            it
            for it in processes()
            if it.session != it.pid and {str(STAND_IN), str(self.folder), role} <= words_at(it.pid)
        ]
        return found


def words_at(pid: int) -> set[str]:
    """Return the words of a process's command line."""
    try:
        return set(Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0"))
    except OSError:
        return set()


def _python() -> Path:
    """Return the interpreter itself, without the packages of this environment."""
    return Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"


def _program(place: Path, text: str) -> None:
    place.write_text(text)
    place.chmod(0o755)
