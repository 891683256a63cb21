"""The processes of a worker: the guardian, its messages, and the worker's log."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from engines.errors import EngineError, EngineFailed
from engines.log_file import LogFile
from engines.redaction import redact_certain
from engines.sentences import N_
from engines.vllm.command import WorkerPlace
from engines.vllm.host import Host
from engines.vllm.places import record_of
from engines.vllm.streams import Lines, write_all

_TAIL: Final = 400
_LOG_BYTES: Final = 1 << 20
GRACE_S: Final = 6.0
"""Seconds that a worker gets to end; vLLM takes four seconds during an answer."""

LATE_S: Final = 10.0
"""Further seconds that a guardian gets before Hearth ends its processes itself."""


class Supervised:
    """A command that runs under a guardian, from `start` to `stop`.

    Args:
        words: The command line.
        environment: The complete environment.
        host: The system that it runs on.
        place: The worker's place on the host; its scratch folder is removed afterwards.
        log: File for the worker's log; at most two mebibytes are kept.
        on_line: Called with each line of the log, on the reading thread.
        grace_s: Seconds that the worker gets to end.

    Attributes:
        last_line_at: Time of the last log line, on the monotonic clock.
        pid: Id of the worker's first process; 0 before it exists.
        exit_code: Exit code of that process, or None.
        failure: The guardian's explanation of a failed start, or "".
        computed_s: Processor time of the worker's processes, in seconds.
        is_compiling: One of the processes is a compiler.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        host: Host,
        place: WorkerPlace,
        log: Path,
        on_line: Callable[[str], None],
        grace_s: float = GRACE_S,
    ) -> None:
        self._order = {
            "words": list(words),
            "environment": dict(environment),
            "folder": place.folder.as_posix(),
            "record": record_of(place).as_posix(),
            "scratch": place.scratch.as_posix(),
            "grace_s": grace_s,
            "silence_s": host.silence_s,
        }
        self._host = host
        self._place = place
        self._log = log
        self._on_line = on_line
        self._grace_s = grace_s
        self._guardian: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._tail: deque[str] = deque(maxlen=_TAIL)
        self._ended = threading.Event()
        self.last_line_at = time.monotonic()
        self.pid = 0
        self.exit_code: int | None = None
        self.failure = ""
        self.computed_s = 0.0
        self.is_compiling = False

    @property
    def has_ended(self) -> bool:
        """True if the guardian has ended, and the worker with it."""
        return self._ended.is_set()

    @property
    def guardian(self) -> int:
        """Process id of the guardian; 0 before the start."""
        return self._guardian.pid if self._guardian else 0

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines of the worker's log, newest last."""
        return tuple(self._tail)

    def start(self) -> None:
        """Start the guardian and the command.

        Raises:
            EngineUnavailable: The host cannot run workers.
            EngineFailed: The start failed.
        """
        log_handler = self._open_log()
        try:
            guardian = self._host.guardian()
        except EngineError:
            log_handler.close()
            raise
        except OSError as error:
            log_handler.close()
            raise not_started(error) from error
        self._guardian = guardian
        # A daemon, so that it cannot keep the app from ending; the guardian then ends the worker.
        self._reader = threading.Thread(
            target=self._read, args=(guardian, log_handler), name="worker log", daemon=True
        )
        self._reader.start()
        self._write(json.dumps(self._order).encode() + b"\n")

    def wait(self, seconds: float) -> bool:
        """Wait at most that long for the end; return whether it has come."""
        return self._ended.wait(seconds)

    def stop(self) -> None:
        """Stop the worker, and return when none of its processes is left. Can be called again."""
        guardian, reader = self._guardian, self._reader
        if guardian is None or reader is None:
            return
        self._write(b"stop\n")
        if not self._ended.wait(self._grace_s + LATE_S):
            guardian.kill()
        guardian.wait()
        reader.join()
        if guardian.stdin is not None and not guardian.stdin.closed:
            guardian.stdin.close()

    def leave(self, stays_s: float) -> bool:  # noqa: ARG002  used by workers that can be shared
        """Stop using the worker, and return whether it has ended.

        This class stops it at once; only a `SharedWorker` can stay for `stays_s` seconds.
        """
        self.stop()
        return True

    def _write(self, line: bytes) -> None:
        if self._guardian is None:
            return
        try:
            write_all(self._guardian, line)
        except (OSError, ValueError):
            return  # the guardian has ended, and the worker with it

    def _open_log(self) -> logging.Handler:
        """Open the log. Raises EngineFailed: without a log, a failed start has no explanation."""
        try:
            return LogFile(self._log, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8")
        except OSError as error:
            raise EngineFailed(
                N_("vLLM could not be started."),
                N_(
                    "Its log {name} cannot be written: {strerror}.",
                    name=self._log.name,
                    strerror=error.strerror,
                ),
                N_("Check who may write to Hearth’s folder, and whether its drive is full."),
            ) from error

    def _read(self, guardian: subprocess.Popen[bytes], log_handler: logging.Handler) -> None:
        """Read all output on the reading thread, then make sure that no process is left."""
        words, messages = Lines(self._line_handler(log_handler)), Lines(self._handle_output)
        try:
            self._host.follow(guardian, messages, words)
        finally:
            guardian.wait()
            self._host.settle(self._place)
            log_handler.close()
            self._ended.set()

    def _line_handler(self, log_handler: logging.Handler) -> Callable[[str], None]:
        def handle_line(line: str) -> None:
            line = redact_certain(line)
            self.last_line_at = time.monotonic()
            self._tail.append(line)
            log_handler.handle(logging.makeLogRecord({"msg": line}))
            self._on_line(line)

        return handle_line

    def _handle_output(self, line: str) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self.failure = line  # printed by a guardian that could not start
            return
        self._handle_message(message)

    def _handle_message(self, message: dict[str, Any]) -> None:
        self.pid = message.get("began", self.pid)
        self.exit_code = message.get("ended", self.exit_code)
        self.failure = message.get("failed", self.failure)
        self.computed_s = message.get("computed", self.computed_s)
        self.is_compiling = message.get("compiles", self.is_compiling)


def not_started(error: OSError) -> EngineFailed:
    """Return the error for a guardian that the system cannot start."""
    return EngineFailed(
        N_("vLLM could not be started."),
        N_("The system says: {strerror}.", strerror=error.strerror),
        N_("Close other programs, and try again."),
    )
