"""Finds the processes that belong together in /proc, and ends them.

Standard library only, since the guardian uses it. Linux only.
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
"""The names of the processes that make a kernel for a card from its source."""

_EMPTY_LOOKS: Final = 2
"""One may miss who was started behind it by who has ended since, or just becomes a program."""


@dataclass(frozen=True)
class Process:
    """A process by its number, which is used again, and its time of start, which is not.

    started: in ticks since the computer's. parent, session: their numbers.
    """

    pid: int
    started: int
    parent: int
    session: int

    @property
    def key(self) -> tuple[int, int]:
        return self.pid, self.started


def boot() -> str:
    """Return a value of this start of the computer, from which times of start are counted."""
    return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def process(pid: int) -> Process | None:
    """Look a process up; None if it is gone, or a zombie. Source: man 5 proc."""
    try:
        stat = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    if fields[0] in {b"Z", b"X"}:
        return None
    return Process(pid, int(fields[19]), int(fields[1]), int(fields[3]))


def processes() -> list[Process]:
    """List the processes that live."""
    found = (process(int(entry.name)) for entry in _PROC.iterdir() if entry.name.isdigit())
    return [it for it in found if it is not None]


def words_of() -> list[list[str]]:
    """Return the command line of each process that can be asked for it and has one."""
    found = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
    return [line.split("\0") for line in found if line]


def computed_s(session: int) -> float | None:
    """Return the seconds for which a session's processes have computed.

    The first one does not count, as it only answers requests. None where there are no others to be
    seen.
    """
    others = [it.pid for it in processes() if it.session == session and it.pid != session]
    ticks = 0
    for pid in others:
        try:
            stat = (_PROC / str(pid) / "stat").read_bytes()
        except OSError:
            return None
        ticks += sum(map(int, stat[stat.rindex(b")") + 2 :].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK") if others else None


def activity(members: Iterable[Process]) -> tuple[float, bool]:
    """Return the seconds for which processes have computed, and whether one is a compiler.

    The time of their children that have ended counts. Source: man 5 proc, /proc/pid/stat.
    """
    ticks, compiles = 0, False
    for it in members:
        try:
            stat = (_PROC / str(it.pid) / "stat").read_bytes()
        except OSError:
            continue  # it has just ended
        begin, end = stat.index(b"("), stat.rindex(b")")
        compiles = compiles or stat[begin + 1 : end] in _COMPILERS
        ticks += sum(map(int, stat[end + 2 :].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK"), compiles


def family(ancestor: int, number: int) -> list[Process]:
    """List the processes of a session, and the ancestor's descendants without itself."""
    everyone = processes()
    inside, grown = {ancestor}, True
    while grown:
        new = {it.pid for it in everyone if it.parent in inside} - inside
        inside |= new
        grown = bool(new)
    inside.discard(ancestor)
    return [it for it in everyone if it.pid in inside or it.session == number]


def kill(find: Callable[[], Collection[Process]], limit_s: float = 10.0) -> bool:
    """Kill all that `find` finds until it finds none; False if some are still there.

    What tracks shared memory for the others goes last: it gives back what they could not.
    """
    began, empty = time.monotonic(), 0
    while True:
        found = find()
        empty = 0 if found else empty + 1
        if empty == _EMPTY_LOOKS:
            return True
        waited = time.monotonic() - began
        if found and waited > limit_s:
            return False
        trackers = [it for it in found if _tracks(it.pid)]
        others = [it for it in found if it not in trackers]
        send(others or (trackers if waited > _TRACKER_S else ()), signal.SIGKILL)
        time.sleep(0.02)


def send(to: Iterable[Process], number: signal.Signals) -> None:
    """Send a signal to those that still live."""
    for it in to:
        held = _hold(it.pid)
        try:
            if (now := process(it.pid)) is None or now.key != it.key:
                continue
            if held is not None:
                signal.pidfd_send_signal(held, number)
            else:
                # Between this look and the signal a number can hardly have been used again.
                os.kill(it.pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # it is gone, or another user's by now: then `kill` says that it stays
        finally:
            if held is not None:
                os.close(held)


def _hold(pid: int) -> int | None:
    """Open a descriptor of a process, safe when its number is used again; None before Linux 5.3."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _tracks(pid: int) -> bool:
    try:
        return _TRACKER in (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False
