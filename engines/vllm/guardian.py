"""The guardian, which ends the worker when Hearth ends. Run as `python -m` this module.

Hearth holds the other end of the guardian's standard input. The first line there is the order, as
JSON: words, environment, folder, scratch, record, grace_s, silence_s, shared. Any further line asks
the guardian to end the worker, and the end of the input means that Hearth is gone. Inside WSL2 that
end does not always arrive, so there Hearth sends empty lines as signs of life, and silence_s
seconds without one mean that it is gone.

The worker's output goes to standard error. The guardian's own messages go to standard output, one
line of JSON each: {"began": pid}, {"failed": text}, {"ended": code}, and in between {"computed":
seconds, "compiles": bool}, a sign of life from a worker that logs nothing.

A shared worker can have several users, and can stay after they have left. The input is then a
two-way connection, and belongs to the first user (see `door`).

The worker has its own session. Whichever process ends first, none of the worker's processes stays:
the guardian asks the first one to stop, waits, kills the rest of the session and all orphans (which
become children of the guardian), and removes the scratch folder. If the guardian itself is killed,
the kernel signals the worker's first process. Hearth ends any process that ignores this, at once or
at its next start (see `leftovers`). It recognises the processes by a mark, which is on disk before
the worker starts.

Uses the standard library only, so that it starts quickly and takes little memory while a worker
runs.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from engines.private import OTHERS
from engines.sentences import N_
from engines.vllm.clients import WorkerClients, socket_of
from engines.vllm.leftovers import clear, forget, write_record
from engines.vllm.marks import marked, new_mark, variables
from engines.vllm.processes import Process, activity, family, kill, process, processes

_PDEATHSIG: Final = 1
_SUBREAPER: Final = 36
"""Options of prctl(2). Source: linux/prctl.h."""

_CHECK_S: Final = 0.5
_CALM_CHECK_S: Final = 5.0
_CALM_AFTER_S: Final = 300.0
_GROWN_S: Final = 0.1
"""Change in processor time, in seconds, after which the worker's activity is reported."""

_AFTER_S: Final = 1.0
"""Seconds that the other processes get to end after the first one has ended."""

_OOM_SCORE: Final = "600"
"""Makes the system end a worker before the app, and a helper before both."""

_NICE: Final = 5
"""Lets the window go first: on two cores it waited up to 16 seconds for a worker."""
_AUTOGROUP: Final = Path("/proc/self/autogroup")
"""Holds the niceness that counts instead if the kernel divides time between sessions: sched(7)."""


class Guardian:
    """Starts the worker of an order, and ends it.

    Args:
        order: The order; its `record` is the file that `leftovers` describes.
        wake: Descriptor that becomes readable when a signal arrives.
    """

    def __init__(self, order: dict[str, Any], wake: int) -> None:
        self._order = order
        self._wake = wake
        self._record = Path(order["record"])
        self._mark = new_mark()
        self._grace = float(order["grace_s"])
        self._silence = float(order["silence_s"])
        self._last_sign = time.monotonic()
        self._code: int | None = None
        self._recorded: set[tuple[int, int]] = set()
        self._reported_s = 0.0
        own_process = process(os.getpid())
        assert own_process is not None  # noqa: S101  this process lives
        self._own_process = own_process
        self._stop_requested = False
        self._child: subprocess.Popen[bytes] | None = None
        self._clients = (
            WorkerClients(socket_of(Path(order["scratch"])), os.dup(0))
            if order.get("shared")
            else None
        )

    @property
    def _ended(self) -> bool:
        """True if the worker's first process has ended."""
        return self._code is not None

    def request_stop(self, *_: object) -> None:
        """Handle a signal that asks for the worker's end."""
        self._stop_requested = True

    def run(self) -> int:
        """Run until nothing of the worker is left, and return the guardian's exit code."""
        try:
            self._write_record(())
            # The child's death signal follows the thread that forks, and this is the only thread.
            self._child = subprocess.Popen(
                self._order["words"],
                env=self._order["environment"] | variables(self._mark),
                cwd=self._order["folder"],
                stdin=subprocess.DEVNULL,
                stdout=self._clients.log_input if self._clients else 2,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_child_setup(os.getpid()),  # noqa: PLW1509  one thread: no lock can be held
            )
        except OSError as error:
            self._remove_files()
            self._send({"failed": str(error)})
            return 1
        self._report_members()
        if self._clients:
            self._clients.announce_start(self._child.pid)
        else:
            _write_message({"began": self._child.pid})
        try:
            self._watch()
            if self._clients:
                self._clients.shut()
            self._stop()
        finally:
            all_ended = kill(lambda: {*self._members(), *marked(self._mark, processes())})
            self._reap()
            if all_ended:
                self._remove_files()
            self._child.returncode = self._code if self._code is not None else -signal.SIGKILL
        if self._clients:
            self._clients.close(self._child.returncode)
        else:
            _write_message({"ended": self._child.returncode})
        return 0

    def _watch(self) -> None:
        """Wait until the worker has ended or is to end."""
        started = time.monotonic()
        while not self._stop_requested and not self._ended:
            is_calm = time.monotonic() - started > _CALM_AFTER_S
            seconds = _CALM_CHECK_S if is_calm else _CHECK_S
            if self._clients:
                self._wait(seconds=seconds)
                if self._clients.is_ending:
                    self._stop_requested = True
            elif self._wait(0, seconds=seconds):
                self._handle_input(os.read(0, 512))
            elif self._silence and time.monotonic() - self._last_sign > self._silence:
                self._stop_requested = True
            self._reap()
            self._report_members()

    def _handle_input(self, data: bytes) -> None:
        """Handle input: empty lines are signs of life; anything else, or the end, asks to stop."""
        self._last_sign = time.monotonic()
        if not data or data.strip(b"\n"):
            self._stop_requested = True

    def _stop(self) -> None:
        """Ask the worker's first process to end, and wait while the worker cleans up."""
        child = self._child
        if self._ended or child is None:
            return
        os.kill(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + self._grace
        while time.monotonic() < deadline and self._members():
            self._wait(seconds=0.05)
            if self._reap():
                # The processes that it leaves behind get no more time than this to clean up.
                deadline = min(deadline, time.monotonic() + _AFTER_S)

    def _wait(self, *inputs: int, seconds: float) -> bool:
        """Wait for an input or a signal, and return whether an input came.

        With a door, serve its users and the worker's log instead, and return False.
        """
        if self._clients:
            self._clients.serve(self._wake, seconds)
            return False
        ready, _, _ = select.select([*inputs, self._wake], [], [], seconds)
        if self._wake in ready:
            os.read(self._wake, 512)
        return ready not in ([], [self._wake])

    def _members(self) -> list[Process]:
        self._reap()
        return family(self._own_process.pid, self._child.pid if self._child else 0)

    def _report_members(self) -> None:
        """Report the activity of the worker's processes, and update the record of them."""
        members = self._members()
        self._report_activity(members)
        if {member.key for member in members} - self._recorded:
            self._recorded = {member.key for member in members}
            try:
                self._write_record(members)
            except OSError as error:
                with suppress(OSError):  # nobody reads it any more
                    print(f"the record of this worker cannot be written: {error}", file=sys.stderr)  # noqa: T201

    def _report_activity(self, members: Iterable[Process]) -> None:
        """Report the worker's processor time once it has changed enough."""
        computed, compiles = activity(members)
        if abs(computed - self._reported_s) >= _GROWN_S:
            self._reported_s = computed
            self._send({"computed": computed, "compiles": compiles})

    def _send(self, message: dict[str, Any]) -> None:
        """Send a message to the users of a shared worker, or else to Hearth."""
        if self._clients:
            self._clients.broadcast(message)
        else:
            _write_message(message)

    def _write_record(self, members: Iterable[Process]) -> None:
        """Write the record. Raises OSError."""
        session = self._child.pid if self._child else 0
        scratch = self._order["scratch"]
        write_record(self._record, self._own_process, self._mark, session, members, scratch)

    def _remove_files(self) -> None:
        clear(Path(self._order["scratch"]))
        forget(self._record)

    def _reap(self) -> bool:
        """Reap dead children and orphans; return whether the worker's first process is dead."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return self._ended
            if pid == 0:
                return self._ended
            if self._child is not None and pid == self._child.pid:
                self._code = os.waitstatus_to_exitcode(status)


def main() -> int:
    """Read the order from standard input and carry it out."""
    if sys.platform != "linux":
        _write_message({"failed": N_("a worker can be supervised on Linux only")})
        return 2
    with open(0, "rb", buffering=0, closefd=False) as order_file:
        line = order_file.readline()
    if not line.endswith(b"\n"):
        return 0
    os.umask(OTHERS)  # records, caches, sockets and logs reveal things about chats
    prctl(_SUBREAPER, 1)
    wake_end, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    guardian = Guardian(json.loads(line), wake_end)
    signal.signal(signal.SIGTERM, guardian.request_stop)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        # The worker would inherit an ignored signal, but it does not inherit a handler.
        signal.signal(number, lambda *_: None)
    return guardian.run()


def prctl(option: int, value: int) -> None:
    """Set an option of this process by the system call of that name. Raises OSError."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _child_setup(guardian: int) -> Callable[[], None]:
    """Return a function for the worker's first process to call before it becomes the worker."""

    def prepare() -> None:
        # The guardian's handler is still installed here and would swallow the death signal.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        prctl(_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != guardian:
            os._exit(1)
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE, encoding="ascii")
        os.nice(_NICE)
        with suppress(OSError):  # no autogroups, or too many changes at the moment
            _AUTOGROUP.write_text(str(_NICE), encoding="ascii")

    return prepare


def _write_message(message: dict[str, Any]) -> None:
    try:
        os.write(1, json.dumps(message).encode() + b"\n")
    except BrokenPipeError:
        return  # Hearth is gone, and the remaining work does not need it


if __name__ == "__main__":
    sys.exit(main())
