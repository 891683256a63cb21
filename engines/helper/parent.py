"""Starts a helping process, which ends with the app or with whoever waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.cancel import CancelToken

_ROOT: Final = Path(__file__).parents[2]
_SECRET: Final = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}
"""A process that opens files of strangers has no use for them."""


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, negative for a signal, and what it wrote.

    in_time: False if it had to be ended because it took too long.
    """

    code: int
    out: bytes
    err: str
    in_time: bool

    @property
    def last_line(self) -> bytes:
        """The last line of its output that it wrote to the end; empty if there is none."""
        return self.out.rpartition(b"\n")[0].rpartition(b"\n")[2]


def run_helper(command: Sequence[str], argument: str, limit_s: float, cancel: CancelToken) -> Ended:
    """Run it to its end, which comes early if `cancel` is set. Raises OSError if none starts."""
    in_time = True
    with _running([*command, argument]) as child:
        forget = cancel.on_cancel(child.kill)
        try:
            out, err = child.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            child.kill()
            out, err = child.communicate()
            in_time = False
        finally:
            forget()
    return Ended(child.returncode, out, err.decode(errors="replace"), in_time)


@contextmanager
def _running(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The process at work; when this ends, so has it.

    It reads nothing: it only notices when its standard input closes, because the app ended.
    """
    theirs, ours = os.pipe()
    try:
        child = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            creationflags=quiet_flags(modest=True),
        )
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    try:
        with child:
            try:
                yield child
            finally:
                child.kill()
    finally:
        os.close(ours)


def environment() -> dict[str, str]:
    """The app's own, with the way to its code and without the user's tokens."""
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    kept = {name: value for name, value in os.environ.items() if name.upper() not in _SECRET}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def quiet_flags(*, modest: bool = False) -> int:
    """Creation flags for Windows: no console window, and a low priority for a modest process."""
    if sys.platform == "win32":
        low = subprocess.BELOW_NORMAL_PRIORITY_CLASS if modest else 0
        return subprocess.CREATE_NO_WINDOW | low
    return 0
