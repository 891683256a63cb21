"""A worker that several Hearth processes can use: this process's connection to its guardian.

See `door` for the protocol. Linux only: a worker inside WSL2 has one user, because such a
connection cannot cross from Windows into its Linux.
"""

from __future__ import annotations

import json
import logging
import socket  # noqa: TID251  between processes of this computer
import struct
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from engines.vllm.command import WorkerPlace
from engines.vllm.door import door_of
from engines.vllm.host import Host, start_guardian
from engines.vllm.leftovers import outlive
from engines.vllm.places import record_of
from engines.vllm.streams import Lines
from engines.vllm.supervised import GRACE_S, LATE_S, Supervised, unstarted

_ANSWERS_S: Final = 20.0
"""Seconds that a guardian gets to answer; while it ends its worker it reads nothing."""
_READ: Final = 1 << 16


class SharedWorker(Supervised):
    """A command under a guardian that lets others join, or the connection to such a guardian.

    Args:
        joins: Process id of the guardian to join; 0 starts a new one.
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
        joins: int = 0,
    ) -> None:
        super().__init__(
            words,
            environment,
            host=host,
            place=place,
            log=log,
            listen=listen,
            grace_s=grace_s,
        )
        self._order["shared"] = True
        self._joins = joins
        self._connection: socket.socket | None = None
        self._answered = threading.Event()
        self._left = False

    @property
    def guardian(self) -> int:
        return self._joins or super().guardian

    def start(self) -> None:
        """Start the worker, or join it.

        Raises:
            EngineFailed: The guardian could not be started.
            OSError: There is no worker to join.
        """
        keeper: logging.Handler = logging.NullHandler() if self._joins else self._keeper()
        try:
            if self._joins:
                self._connection = connect(self._place.scratch, self._joins)
                self._tell(b"join\n")
            else:
                ours, theirs = socket.socketpair()
                self._connection = ours
                with theirs:
                    self._guardian = start_guardian(theirs.fileno())
                self._tell(json.dumps(self._order).encode() + b"\n")
        except OSError as error:
            keeper.close()
            if self._connection is not None:
                self._connection.close()
            if self._joins:
                raise
            raise unstarted(error) from error
        self._reader = threading.Thread(
            target=self._hear, args=(self._connection, keeper), name="worker log", daemon=True
        )
        self._reader.start()
        if self._joins and not (self._answered.wait(_ANSWERS_S) and self.pid):
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            raise ConnectionResetError  # the worker is just ending

    def stop(self) -> None:
        self._end(b"stop\n")

    def leave(self, stays_s: float) -> bool:
        self._end(b"leave %g\n" % stays_s)
        return not self._left

    def _end(self, line: bytes) -> None:
        if self._connection is None:
            return
        self._tell(line)
        if not self._over.wait(self._grace_s + LATE_S):
            # The guardian does not respond: the reading thread ends the guardian, and then the
            # rest.
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._over.wait()

    def _tell(self, line: bytes) -> None:
        if self._connection is not None:
            with suppress(OSError):  # the guardian has ended, and the worker with it
                self._connection.sendall(line)

    def _hear(self, connection: socket.socket, keeper: logging.Handler) -> None:
        """Read messages on the reading thread until the connection ends or this user has left."""
        words = Lines(self._heard_line(keeper))

        def heard(line: str) -> None:
            message = _read(line)
            if message is None:
                self.failed = line  # printed by a guardian that could not start
            elif "words" in message:
                words.take(message["words"].encode("latin-1"))
            else:
                self._left = self._left or message.get("left", False)
                self._take(message)
                self._answered.set()

        messages = Lines(heard)
        try:
            while not self._left and (data := _received(connection)):
                messages.take(data)
            messages.end()
            words.end()
        finally:
            if not self._left:
                outlive(record_of(self._place), time.monotonic() + LATE_S)
                if self._guardian is not None:
                    self._guardian.wait()  # its record and connection end a moment before it does
                self._host.settle(self._place)
            connection.close()
            keeper.close()
            self._over.set()
            self._answered.set()
        if self._guardian is not None:
            self._guardian.wait()  # reaps this child, which can run on for other users


def connect(scratch: Path, guardian: int) -> socket.socket:
    """Connect to the guardian of a shared worker. Raises OSError if another process listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_ANSWERS_S)
        connection.connect(str(door_of(scratch)))
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", peer)[0] != guardian:
            raise ConnectionRefusedError  # another process listens there
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return connection


def ask(scratch: Path, guardian: int, word: str) -> dict[str, Any]:
    """Send a command to the guardian of a shared worker without joining it.

    The answer to "stop" comes when the worker has ended.

    Raises:
        OSError: The guardian cannot be reached.
        ValueError: The answer is not text.
    """
    with connect(scratch, guardian) as connection, connection.makefile("rb") as lines:
        connection.settimeout(_ANSWERS_S)
        connection.sendall(word.encode() + b"\n")
        return _read(lines.readline().decode()) or {}


def _read(line: str) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(_READ)
    except OSError:
        return b""
