"""Runs a command until it ends; cancelling kills it with all processes that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.private import OTHERS
from engines.sentences import N_

_LAST_LINES = 200


class CommandFailed(Exception):
    """A command failed.

    Attributes:
        status: Its exit code.
        lines: The last lines that it printed.
    """

    def __init__(self, words: Sequence[str], status: int, lines: Sequence[str]) -> None:
        super().__init__(
            N_(
                "{program} ended with {status}: {output}",
                program=words[0],
                status=status,
                output=" | ".join(lines[-5:]),
            )
        )
        self.status = status
        self.lines = tuple(lines)

    @property
    def last(self) -> str:
        """The last line that is not empty."""
        return next((line.strip() for line in reversed(self.lines) if line.strip()), "")


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    cancel: CancelToken,
    *,
    lock_descriptor: int | None = None,
    on_line: Callable[[str], None] = lambda _: None,
) -> tuple[str, ...]:
    """Run a command, and return the last lines that it printed on either stream.

    Args:
        lock_descriptor: Descriptor of a lock that the command inherits; see `alone`.
        on_line: Called with each line.

    Raises:
        Cancelled: The command was cancelled.
        CommandFailed: It ended with another exit code than 0.
        OSError: It cannot be started.
    """
    lines: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(
        list(words),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(environment),
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        umask=OTHERS,
        pass_fds=() if lock_descriptor is None or sys.platform == "win32" else (lock_descriptor,),
    ) as process:
        forget = cancel.on_cancel(lambda: _end(process))
        try:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                on_line(line.rstrip())
            status = process.wait()
        finally:
            forget()
            _end(process)
    if cancel.cancelled:
        raise Cancelled
    if status:
        raise CommandFailed(words, status, tuple(lines))
    return tuple(lines)


_ending = threading.Lock()


def _end(process: subprocess.Popen[str]) -> None:
    """Kill the process and its group, unless it has ended."""
    with _ending:
        if process.returncode is not None:
            return
        if sys.platform == "win32":
            process.kill()
            return
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it has just ended by itself
