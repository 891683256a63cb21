"""Finds processes that belong together in /proc, and ends them.

Uses the standard library only, because the guardian imports it. Linux only.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_TRACKER: Final = b"multiprocessing.resource_tracker"
_TRACKER_S: Final = 1.0
_COMPILERS: Final = frozenset(
    (b"ninja", b"nvcc", b"cudafe++", b"cicc", b"ptxas", b"fatbinary", b"nvlink", b"cc1plus")
)
"""Names of the processes that compile a kernel for a card."""

_EMPTY_SCANS: Final = 2
"""Number of empty looks in a row that prove that all processes are gone.

A single look can miss a process whose parent has started it and ended, or that is just starting.
"""


@dataclass(frozen=True)
class Process:
    """A process, identified by its id, which can be reused, and its start time.

    Attributes:
        started: Start time in clock ticks since the computer started.
        parent: Id of the parent process.
        session: Id of the session.
    """

    pid: int
    started: int
    parent: int
    session: int

    @property
    def key(self) -> tuple[int, int]:
        """Id and start time, which no other process has had since the boot."""
        return self.pid, self.started


def boot() -> str:
    """Return the id of this boot of the computer; start times count from the boot."""
    return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def process(pid: int) -> Process | None:
    """Return a process, or None if it is gone or a zombie. Source: man 5 proc."""
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    if fields[0] in {b"Z", b"X"}:
        return None
    return Process(pid, int(fields[19]), int(fields[1]), int(fields[3]))


def processes() -> list[Process]:
    """List the living processes."""
    candidates = (process(int(entry.name)) for entry in _PROC.iterdir() if entry.name.isdigit())
    return [candidate for candidate in candidates if candidate is not None]


def command_lines() -> list[list[str]]:
    """Return the command line of each process that has a readable one."""
    lines = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                lines.append((entry / "cmdline").read_bytes().decode(errors="replace"))
    return [line.split("\0") for line in lines if line]


def computed_s(session: int) -> float | None:
    """Return the processor time in seconds of a session's processes.

    The first process is left out, because it only handles requests. Returns None if there are no
    others, or if one of them cannot be read.
    """
    pids = [
        candidate.pid
        for candidate in processes()
        if candidate.session == session and candidate.pid != session
    ]
    ticks = 0
    for pid in pids:
        try:
            stat = (_PROC / str(pid) / "stat").read_bytes()
        except OSError:
            return None
        ticks += sum(map(int, stat[stat.rindex(b")") + 2 :].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK") if pids else None


def activity(members: Iterable[Process]) -> tuple[float, bool]:
    """Return the processor time of processes in seconds, and whether one of them is a compiler.

    The time includes children that have ended. Source: man 5 proc, /proc/pid/stat.
    """
    ticks, compiles = 0, False
    for member in members:
        try:
            stat = (_PROC / str(member.pid) / "stat").read_bytes()
        except OSError:
            continue  # the process has just ended
        begin, end = stat.index(b"("), stat.rindex(b")")
        compiles = compiles or stat[begin + 1 : end] in _COMPILERS
        ticks += sum(map(int, stat[end + 2 :].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK"), compiles


def family(ancestor: int, session: int) -> list[Process]:
    """List the processes of session `session`, and the descendants of `ancestor` without itself."""
    all_processes = processes()
    descendants, grown = {ancestor}, True
    while grown:
        new = {
            candidate.pid for candidate in all_processes if candidate.parent in descendants
        } - descendants
        descendants |= new
        grown = bool(new)
    descendants.discard(ancestor)
    return [
        candidate
        for candidate in all_processes
        if candidate.pid in descendants or candidate.session == session
    ]


def kill(find: Callable[[], Collection[Process]], limit_s: float = 10.0) -> bool:
    """Kill the processes that `find` returns until it returns none; return False if some stay.

    The tracker of shared memory is killed last, because it releases memory for the others.
    """
    started, empty = time.monotonic(), 0
    while True:
        remaining = find()
        empty = 0 if remaining else empty + 1
        if empty == _EMPTY_SCANS:
            return True
        waited = time.monotonic() - started
        if remaining and waited > limit_s:
            return False
        trackers = [candidate for candidate in remaining if _is_tracker(candidate.pid)]
        ordinary = [candidate for candidate in remaining if candidate not in trackers]
        send_signal(ordinary or (trackers if waited > _TRACKER_S else ()), signal.SIGKILL)
        time.sleep(0.02)


def send_signal(targets: Iterable[Process], signal_number: signal.Signals) -> None:
    """Send a signal to those of the processes that still live."""
    for target in targets:
        descriptor = _open_process(target.pid)
        try:
            if (present := process(target.pid)) is None or present.key != target.key:
                continue
            if descriptor is not None:
                signal.pidfd_send_signal(descriptor, signal_number)
            else:
                # The id can hardly be reused between this check and the signal.
                os.kill(target.pid, signal_number)
        except (ProcessLookupError, PermissionError):
            continue  # gone, or another user's by now; `kill` reports a process that stays
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _open_process(pid: int) -> int | None:
    """Open a descriptor of a process, which survives reuse of its id; None before Linux 5.3."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _is_tracker(pid: int) -> bool:
    try:
        return _TRACKER in (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False
