"""Starts a helping process, which ends with the app or with whoever waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from engines.cancel import CancelToken
from engines.helper.clock import WorkClock, worked_too_long

_ROOT: Final = Path(__file__).parents[2]
_SECRET: Final = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HEARTH_API_TOKEN"}
"""A process that opens files of strangers has no use for them."""


STOPPED_S: Final = 20.0
"""The time for which a stopped process may be let go on; then it is given up."""

_LOOK_S: Final = 1.0
_LOOK_AT_MEMORY_S: Final = 0.1
_PIECE: Final = 1 << 16


@dataclass(frozen=True)
class ProcessResult:
    """The result of a process: its exit code, negative for a signal, and what it wrote.

    in_time: False if it was ended because it worked, or did nothing, for too long. stopped: because
    it was stopped (SIGSTOP), and nobody let it go on. too_much: because it took more memory than it
    may, or wrote more.
    """

    code: int
    out: bytes
    err: str
    in_time: bool
    stopped: bool = False
    too_much: bool = False

    @property
    def last_line(self) -> bytes:
        """The last line of its output that is complete; empty if there is none."""
        return self.out.rpartition(b"\n")[0].rpartition(b"\n")[2]


def run_helper(
    command: Sequence[str],
    argument: str,
    limit_s: float,
    cancel: CancelToken,
    memory_bytes: int | None = None,
    out_bytes: int | None = None,
) -> ProcessResult:
    """Run a helper to its end, or until `cancel` is set. Raises OSError if none starts.

    limit_s: the processor time that it may use, and the time that it may do nothing; see
    `WorkClock`.
    memory_bytes: what it may have in memory, looked at ten times in a second.
    out_bytes: what it may write to each of its outputs.
    """
    in_time, too_much, stopped_s = True, False, 0.0
    look_s = _LOOK_S if memory_bytes is None else min(_LOOK_S, _LOOK_AT_MEMORY_S)
    with _running([*command, argument]) as child, ThreadPoolExecutor(2) as threads:
        clock = WorkClock(child.pid, limit_s)
        forget = cancel.on_cancel(child.kill)
        try:
            outputs = [
                threads.submit(_output, pipe, out_bytes, child)
                for pipe in (child.stdout, child.stderr)
            ]
            while wait(outputs, timeout=min(look_s, limit_s)).not_done:
                stopped_s = stopped_s + look_s if _is_stopped(child) else 0.0
                in_time = not clock.is_over() and stopped_s < STOPPED_S
                too_much = memory_bytes is not None and resident_bytes_of(child) > memory_bytes
                if not in_time or too_much:
                    child.kill()
                    break
            (out, out_left), (err, err_left) = (output.result() for output in outputs)
            child.wait()
        finally:
            forget()
            child.kill()
    return ProcessResult(
        child.returncode,
        out,
        err.decode(errors="replace"),
        in_time and not worked_too_long(child.returncode),
        stopped_s >= STOPPED_S,
        too_much or out_left or err_left,
    )


def _output(
    pipe: IO[bytes] | None, most: int | None, child: subprocess.Popen[bytes]
) -> tuple[bytes, bool]:
    """Read a pipe to its end; a process that writes more than `most` is ended.

    Returns what it wrote, and whether that was too much.
    """
    parts: list[bytes] = []
    left = most
    while pipe is not None and (part := pipe.read1(_PIECE)):  # type: ignore[attr-defined]
        if left is not None:
            left -= len(part)
            if left < 0:
                child.kill()
                return b"".join(parts), True
        parts.append(part)
    return b"".join(parts), False


def resident_bytes_of(child: subprocess.Popen[bytes]) -> int:
    """Return what a process has in memory; 0 if it has ended."""
    import psutil

    try:
        return int(psutil.Process(child.pid).memory_info().rss)
    except psutil.Error:
        return 0


def _is_stopped(child: subprocess.Popen[bytes]) -> bool:
    """Tell whether a signal has stopped it; Windows has no such state."""
    if sys.platform == "win32":
        return False
    look = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, child.pid, look) is not None
    except ChildProcessError:
        return False


@contextmanager
def _running(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run the process in the block, and end it at the block's end.

    It reads nothing: it only notices when its standard input closes, because the app ended.
    """
    child, ours = start_helper(command)
    try:
        with child:
            try:
                yield child
            finally:
                child.kill()
    finally:
        os.close(ours)


def start_helper(command: Sequence[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start a helper; returns it, and the end of its standard input. Raises OSError.

    Whoever closes that end, or ends with it open, ends the helper.
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
    return child, ours


def environment() -> dict[str, str]:
    """Return the app's environment, with the path to its code and without the user's tokens."""
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    kept = {name: value for name, value in os.environ.items() if name.upper() not in _SECRET}
    return kept | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def quiet_flags(*, modest: bool = False) -> int:
    """Return creation flags for Windows: no console window, and a low priority if modest."""
    if sys.platform == "win32":
        low = subprocess.BELOW_NORMAL_PRIORITY_CLASS if modest else 0
        return subprocess.CREATE_NO_WINDOW | low
    return 0
