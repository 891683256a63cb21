"""A worker's processes as Hearth holds them: the guardian, its messages, and the worker's log."""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import selectors
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from engines.errors import EngineFailed, EngineUnavailable
from engines.vllm.leftovers import reap_one

_ROOT: Final = Path(__file__).parents[2]
_TAIL: Final = 400
_LOG_BYTES: Final = 1 << 20
_GRACE_S: Final = 6.0
"""With an answer under way vLLM takes four seconds to end."""

_LATE_S: Final = 10.0
"""How long past its grace a guardian may take before what it guards is ended without it."""


class Supervised:
    """A command that runs under a guardian, from `start` to `stop`.

    record: what the guardian keeps for the next start; its folder exists. scratch: a
    folder of the worker's own, removed behind it. log: the worker's words
    go there, and at most twice a mebibyte is kept. listen: is called with each line, from another
    thread.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        record: Path,
        scratch: Path,
        log: Path,
        listen: Callable[[str], None],
    ) -> None:
        self._order = {
            "words": list(words),
            "environment": dict(environment),
            "folder": str(log.parent),
            "record": str(record),
            "scratch": str(scratch),
            "grace_s": _GRACE_S,
        }
        self._record = record
        self._log = log
        self._listen = listen
        self._guardian: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._tail: deque[str] = deque(maxlen=_TAIL)
        self._over = threading.Event()
        self.heard = time.monotonic()
        self.pid = 0
        self.code: int | None = None
        self.failed = ""

    @property
    def over(self) -> bool:
        """Whether the guardian has ended, and with it the worker."""
        return self._over.is_set()

    @property
    def guardian(self) -> int:
        """The guardian's number; 0 before the start."""
        return self._guardian.pid if self._guardian else 0

    @property
    def tail(self) -> tuple[str, ...]:
        """The worker's last lines, the newest last."""
        return tuple(self._tail)

    def start(self) -> None:
        """Raises EngineUnavailable on other systems than Linux, EngineFailed if nothing starts."""
        if sys.platform != "linux":
            raise EngineUnavailable(
                "vLLM cannot run here.",
                "It runs on Linux only.",
                "Use llama.cpp, or on Windows install vLLM inside WSL2.",
            )
        keeper = self._keeper()
        try:
            guardian = subprocess.Popen(
                [sys.executable, "-m", "engines.vllm.guardian"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=_ROOT,
                env=os.environ | {"PYTHONPATH": str(_ROOT)},
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            keeper.close()
            raise EngineFailed(
                "vLLM could not be started.",
                f"The system says: {error.strerror}.",
                "Close other programs, and try again.",
            ) from error
        self._guardian = guardian
        # It must not keep an app that ends: then the guardian sees to the rest.
        self._reader = threading.Thread(
            target=self._read, args=(guardian, keeper), name="worker log", daemon=True
        )
        self._reader.start()
        self._tell(json.dumps(self._order).encode() + b"\n")

    def wait(self, seconds: float) -> bool:
        """Until it is over, but no longer than that; whether it is."""
        return self._over.wait(seconds)

    def stop(self) -> None:
        """Return when none of its processes is left. May be called again."""
        guardian, reader = self._guardian, self._reader
        if guardian is None or reader is None:
            return
        self._tell(b"stop\n")
        if not self._over.wait(_GRACE_S + _LATE_S):
            guardian.kill()
        guardian.wait()
        reader.join()
        if guardian.stdin is not None and not guardian.stdin.closed:
            guardian.stdin.close()

    def _tell(self, line: bytes) -> None:
        guardian = self._guardian
        if guardian is None or guardian.stdin is None:
            return
        try:
            guardian.stdin.write(line)
        except (BrokenPipeError, ValueError):
            return  # it has ended, and with it the worker

    def _keeper(self) -> logging.Handler:
        """What writes the log. Raises EngineFailed: nothing would be known of a failed start."""
        try:
            return logging.handlers.RotatingFileHandler(
                self._log, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8"
            )
        except OSError as error:
            raise EngineFailed(
                "vLLM could not be started.",
                f"Its log {self._log.name} cannot be written: {error.strerror}.",
                "Check who may write to Hearth’s folder, and whether its drive is full.",
            ) from error

    def _read(self, guardian: subprocess.Popen[bytes], keeper: logging.Handler) -> None:
        """The thread: all that is said, to the end; then see that nothing is left."""
        out, err = guardian.stdout, guardian.stderr
        assert out is not None  # noqa: S101  asked for above
        assert err is not None  # noqa: S101
        words, messages = _Lines(self._heard_line(keeper)), _Lines(self._heard_message)
        try:
            with selectors.DefaultSelector() as selector, out, err:
                selector.register(out, selectors.EVENT_READ, messages)
                selector.register(err, selectors.EVENT_READ, words)
                # Orphans hold the log open: the end is the guardian's, not the log's.
                while guardian.poll() is None:
                    for key, _ in selector.select(0.2):
                        self._take(key, selector)
                while ready := selector.select(0):
                    for key, _ in ready:
                        self._take(key, selector)
        finally:
            guardian.wait()
            reap_one(self._record, sure=True)
            keeper.close()
            self._over.set()

    def _take(self, key: selectors.SelectorKey, selector: selectors.BaseSelector) -> None:
        data = os.read(key.fd, 1 << 16)
        if data:
            key.data.take(data)
        else:
            key.data.end()
            selector.unregister(key.fileobj)

    def _heard_line(self, keeper: logging.Handler) -> Callable[[str], None]:
        def heard(line: str) -> None:
            self.heard = time.monotonic()
            self._tail.append(line)
            keeper.handle(logging.makeLogRecord({"msg": line}))
            self._listen(line)

        return heard

    def _heard_message(self, line: str) -> None:
        message = json.loads(line)
        self.pid = message.get("began", self.pid)
        self.code = message.get("ended", self.code)
        self.failed = message.get("failed", self.failed)


class _Lines:
    """Cuts what comes into lines; a progress bar's end in a carriage return."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear
        self._rest = b""

    def take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            self._pass_on(line)

    def end(self) -> None:
        self._pass_on(self._rest)
        self._rest = b""

    def _pass_on(self, line: bytes) -> None:
        if text := line.decode(errors="replace").rstrip():
            self._hear(text)
