"""Starts helper processes, which end with the app or when the caller no longer waits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.helper.clock import WorkClock, worked_too_long
from engines.helper.result import ERROR, RESULT, error_of
from engines.sentences import N_

_ROOT: Final = Path(__file__).parents[2]
_SECRET: Final = {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HEARTH_API_TOKEN"}
"""Variables that are withheld, because a helper opens files from strangers."""


STOPPED_S: Final = 20.0
"""Seconds that a stopped process gets to be continued before it is given up."""

CHECK_S: Final = 1.0
_CHECK_MEMORY_S: Final = 0.1
_CHUNK_BYTES: Final = 1 << 16


@dataclass(frozen=True)
class ProcessResult:
    """The result of a process.

    Attributes:
        code: Exit code; negative for a signal.
        out: Standard output.
        err: Standard error.
        in_time: False if it was killed because it worked, or did nothing, for too long.
        stopped: It was killed because it was stopped (SIGSTOP) and nobody continued it.
        too_much: It was killed because it used too much memory or wrote too much.
    """

    code: int
    out: bytes
    err: str
    in_time: bool
    stopped: bool = False
    too_much: bool = False

    @property
    def last_line(self) -> bytes:
        """The last complete line of its output; empty if there is none."""
        return self.out.rpartition(b"\n")[0].rpartition(b"\n")[2]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Its complete lines that are JSON objects."""
        return [json.loads(line) for line in self.out.splitlines() if line.endswith(b"}")]


class NoResult(Exception):
    """A helper ended without a result and without an error, mostly by a crash or a limit.

    Attributes:
        ended: The end of its process.
        why: The reason, as one sentence.
    """

    def __init__(self, ended: ProcessResult) -> None:
        self.ended = ended
        self.why = (
            N_("The process ended with code {code}.", code=ended.code)
            if ended.in_time
            else N_("It did not finish.")
        )
        super().__init__(self.why)


def result_of(ended: ProcessResult) -> Any:
    """Return the result of a helper's work.

    Raises:
        EngineError: The error that ended the work, of the class that it had there.
        NoResult: There is no result.
    """
    try:
        line = json.loads(ended.last_line)
    except (ValueError, RecursionError):
        line = None
    if isinstance(line, dict) and ERROR in line:
        raise error_of(line)
    if not isinstance(line, dict) or RESULT not in line:
        raise NoResult(ended)
    return line[RESULT]


def ask_helper(command: Sequence[str], argument: str, limit_s: float, cancel: CancelToken) -> Any:
    """Run a helper whose work `child.report` does, and return its result.

    Raises:
        EngineError: The error that ended its work.
        NoResult: It ended by itself, or exceeded the limit; see `run_helper`.
        Cancelled: `cancel` was set.
        OSError: The process cannot be started.
    """
    ended = run_helper(command, argument, limit_s, cancel)
    if cancel.cancelled:
        raise Cancelled
    return result_of(ended)


def run_helper(
    command: Sequence[str],
    argument: str,
    limit_s: float,
    cancel: CancelToken,
    memory_bytes: int | None = None,
    out_bytes: int | None = None,
) -> ProcessResult:
    """Run a helper until it ends, `cancel` is set or it exceeds a limit.

    Args:
        argument: Last argument of the command.
        limit_s: Processor time in seconds, and the longest time without work; see `WorkClock`.
        memory_bytes: Largest resident memory, checked ten times per second; None for no limit.
        out_bytes: Most bytes on each of its outputs; None for no limit.

    Raises:
        OSError: The process cannot be started.
    """
    in_time, too_much, stopped_s = True, False, 0.0
    check_s = CHECK_S if memory_bytes is None else min(CHECK_S, _CHECK_MEMORY_S)
    with _running([*command, argument]) as child, ThreadPoolExecutor(2) as threads:
        clock = WorkClock(child.pid, limit_s)
        unregister = cancel.on_cancel(child.kill)
        try:
            outputs = [
                threads.submit(_output, pipe, out_bytes, child)
                for pipe in (child.stdout, child.stderr)
            ]
            while wait(outputs, timeout=min(check_s, limit_s)).not_done:
                stopped_s = stopped_s + check_s if _is_stopped(child) else 0.0
                in_time = not clock.is_over() and stopped_s < STOPPED_S
                too_much = memory_bytes is not None and resident_bytes_of(child) > memory_bytes
                if not in_time or too_much:
                    child.kill()
                    break
            (out, out_left), (err, err_left) = (output.result() for output in outputs)
            child.wait()
        finally:
            unregister()
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
    """Read a pipe until its end, and kill a process that writes more than `most` bytes.

    Returns:
        The output, and whether it was too much.
    """
    parts: list[bytes] = []
    left = most
    while pipe is not None and (part := pipe.read1(_CHUNK_BYTES)):  # type: ignore[attr-defined]
        if left is not None:
            left -= len(part)
            if left < 0:
                child.kill()
                return b"".join(parts), True
        parts.append(part)
    return b"".join(parts), False


def resident_bytes_of(child: subprocess.Popen[bytes]) -> int:
    """Return the resident memory of a process in bytes; 0 if it has ended."""
    import psutil

    try:
        return int(psutil.Process(child.pid).memory_info().rss)
    except psutil.Error:
        return 0


def _is_stopped(child: subprocess.Popen[bytes]) -> bool:
    """Return whether a signal has stopped the process; always False on Windows."""
    if sys.platform == "win32":
        return False
    flags = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
    try:
        return os.waitid(os.P_PID, child.pid, flags) is not None
    except ChildProcessError:
        return False


@contextmanager
def _running(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process for the time of the block, and kill it at the end.

    The process reads nothing from its standard input, but notices when it closes because the app
    has ended.
    """
    child, write_end = start_helper(command)
    try:
        with child:
            try:
                yield child
            finally:
                child.kill()
    finally:
        os.close(write_end)


def start_helper(
    command: Sequence[str], *, modest: bool = True
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a helper; return it and the writing end of its standard input.

    The helper ends when that end is closed, also by the end of this process.

    Args:
        modest: Start it with a low priority, on Windows; elsewhere it lowers its own.

    Raises:
        OSError: The process cannot be started.
    """
    read_end, write_end = os.pipe()
    try:
        child = subprocess.Popen(
            command,
            stdin=read_end,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
            creationflags=quiet_flags(modest=modest),
        )
    except OSError:
        os.close(write_end)
        raise
    finally:
        os.close(read_end)
    return child, write_end


def environment() -> dict[str, str]:
    """Return the app's environment, with the path to its code and without the user's tokens."""
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    variables = {name: value for name, value in os.environ.items() if name.upper() not in _SECRET}
    return variables | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def quiet_flags(*, modest: bool = False) -> int:
    """Return creation flags for Windows: no console window, and low priority if `modest`."""
    if sys.platform == "win32":
        low = subprocess.BELOW_NORMAL_PRIORITY_CLASS if modest else 0
        return subprocess.CREATE_NO_WINDOW | low
    return 0
