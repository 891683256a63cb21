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
from engines.vllm.command import WorkerPlace
from engines.vllm.host import Host
from engines.vllm.places import record_of
from engines.vllm.streams import Lines, tell

_TAIL: Final = 400
_LOG_BYTES: Final = 1 << 20
GRACE_S: Final = 6.0
"""The time to end; with an answer under way vLLM takes four seconds."""

LATE_S: Final = 10.0
"""How long past its grace a guardian may take before what it guards is ended without it."""


class Supervised:
    """A command that runs under a guardian, from `start` to `stop`.

    place: the worker's, on the host; its scratch folder is removed behind it. log: the worker's
    words go there, and at most twice a mebibyte is kept. listen: is called with each line, from
    another thread. grace_s: how long it may take to end.

    Attributes:
        heard: When the worker last said something, on the monotonic clock.
        computed: The seconds for which its processes have computed.
        compiles: Whether one of them is a compiler.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        host: Host,
        place: WorkerPlace,
        log: Path,
        listen: Callable[[str], None],
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
        self._listen = listen
        self._grace_s = grace_s
        self._guardian: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._tail: deque[str] = deque(maxlen=_TAIL)
        self._over = threading.Event()
        self.heard = time.monotonic()
        self.pid = 0
        self.code: int | None = None
        self.failed = ""
        self.computed = 0.0
        self.compiles = False

    @property
    def over(self) -> bool:
        """Whether the guardian has ended, and with it the worker."""
        return self._over.is_set()

    @property
    def guardian(self) -> int:
        """The guardian's process number; 0 before the start."""
        return self._guardian.pid if self._guardian else 0

    @property
    def tail(self) -> tuple[str, ...]:
        """The worker's last lines, the newest last."""
        return tuple(self._tail)

    def start(self) -> None:
        """Start it. Raises EngineUnavailable where the host cannot, EngineFailed where it fails."""
        keeper = self._keeper()
        try:
            guardian = self._host.guardian()
        except EngineError:
            keeper.close()
            raise
        except OSError as error:
            keeper.close()
            raise unstarted(error) from error
        self._guardian = guardian
        # It must not keep an app that ends: then the guardian sees to the rest.
        self._reader = threading.Thread(
            target=self._read, args=(guardian, keeper), name="worker log", daemon=True
        )
        self._reader.start()
        self._tell(json.dumps(self._order).encode() + b"\n")

    def wait(self, seconds: float) -> bool:
        """Wait until it is over, but no longer than that; returns whether it is."""
        return self._over.wait(seconds)

    def stop(self) -> None:
        """Stop it; returns when none of its processes is left. May be called again."""
        guardian, reader = self._guardian, self._reader
        if guardian is None or reader is None:
            return
        self._tell(b"stop\n")
        if not self._over.wait(self._grace_s + LATE_S):
            guardian.kill()
        guardian.wait()
        reader.join()
        if guardian.stdin is not None and not guardian.stdin.closed:
            guardian.stdin.close()

    def leave(self, stays_s: float) -> bool:  # noqa: ARG002  for those that can be shared
        """Leave it, so that it stays so long for whoever can join it; returns whether it ended.

        Nobody can join this one.
        """
        self.stop()
        return True

    def _tell(self, line: bytes) -> None:
        if self._guardian is None:
            return
        try:
            tell(self._guardian, line)
        except (OSError, ValueError):
            return  # it has ended, and with it the worker

    def _keeper(self) -> logging.Handler:
        """Open the log. Raises EngineFailed: without it a failed start would tell nothing."""
        try:
            return LogFile(self._log, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8")
        except OSError as error:
            raise EngineFailed(
                "vLLM could not be started.",
                f"Its log {self._log.name} cannot be written: {error.strerror}.",
                "Check who may write to Hearth’s folder, and whether its drive is full.",
            ) from error

    def _read(self, guardian: subprocess.Popen[bytes], keeper: logging.Handler) -> None:
        """Read all output to its end, on a thread; then see that no process is left."""
        words, messages = Lines(self._heard_line(keeper)), Lines(self._heard_message)
        try:
            self._host.follow(guardian, messages, words)
        finally:
            guardian.wait()
            self._host.settle(self._place)
            keeper.close()
            self._over.set()

    def _heard_line(self, keeper: logging.Handler) -> Callable[[str], None]:
        def heard(line: str) -> None:
            line = redact_certain(line)
            self.heard = time.monotonic()
            self._tail.append(line)
            keeper.handle(logging.makeLogRecord({"msg": line}))
            self._listen(line)

        return heard

    def _heard_message(self, line: str) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            self.failed = line  # of what should have started the guardian
            return
        self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        self.pid = message.get("began", self.pid)
        self.code = message.get("ended", self.code)
        self.failed = message.get("failed", self.failed)
        self.computed = message.get("computed", self.computed)
        self.compiles = message.get("compiles", self.compiles)


def unstarted(error: OSError) -> EngineFailed:
    """Make the error for a guardian that the system does not start."""
    return EngineFailed(
        "vLLM could not be started.",
        f"The system says: {error.strerror}.",
        "Close other programs, and try again.",
    )
