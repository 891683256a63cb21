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

from engines.vllm.clients import socket_of
from engines.vllm.command import WorkerPlace
from engines.vllm.host import Host, start_guardian
from engines.vllm.leftovers import outlive
from engines.vllm.places import record_of
from engines.vllm.streams import Lines
from engines.vllm.supervised import GRACE_S, LATE_S, Supervised, not_started

_REPLY_S: Final = 20.0
"""Seconds that a guardian gets to answer; while it ends its worker it reads nothing."""
_READ: Final = 1 << 16


class SharedWorker(Supervised):
    """A command under a guardian that lets others join, or the connection to such a guardian.

    Args:
        guardian_pid: Process id of the guardian to join; 0 starts a new one.
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
        guardian_pid: int = 0,
    ) -> None:
        super().__init__(
            words,
            environment,
            host=host,
            place=place,
            log=log,
            on_line=on_line,
            grace_s=grace_s,
        )
        self._order["shared"] = True
        self._guardian_pid = guardian_pid
        self._connection: socket.socket | None = None
        self._answered = threading.Event()
        self._has_left = False

    @property
    def guardian(self) -> int:
        """Process id of the guardian, started here or joined; 0 before the start."""
        return self._guardian_pid or super().guardian

    def start(self) -> None:
        """Start the worker, or join it.

        Raises:
            EngineFailed: The guardian could not be started.
            OSError: There is no worker to join.
        """
        log_handler: logging.Handler = (
            logging.NullHandler() if self._guardian_pid else self._open_log()
        )
        try:
            if self._guardian_pid:
                self._connection = connect(self._place.scratch, self._guardian_pid)
                self._write(b"join\n")
            else:
                own_end, guardian_end = socket.socketpair()
                self._connection = own_end
                with guardian_end:
                    self._guardian = start_guardian(guardian_end.fileno())
                self._write(json.dumps(self._order).encode() + b"\n")
        except OSError as error:
            log_handler.close()
            if self._connection is not None:
                self._connection.close()
            if self._guardian_pid:
                raise
            raise not_started(error) from error
        self._reader = threading.Thread(
            target=self._read_messages,
            args=(self._connection, log_handler),
            name="worker log",
            daemon=True,
        )
        self._reader.start()
        if self._guardian_pid and not (self._answered.wait(_REPLY_S) and self.pid):
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            raise ConnectionResetError  # the worker is just ending

    def stop(self) -> None:
        """End the worker for all its users; return when none of its processes is left."""
        self._end(b"stop\n")

    def leave(self, stays_s: float) -> bool:
        """Stop using the worker; return whether it has ended because of that."""
        self._end(b"leave %g\n" % stays_s)
        return not self._has_left

    def _end(self, line: bytes) -> None:
        if self._connection is None:
            return
        self._write(line)
        if not self._ended.wait(self._grace_s + LATE_S):
            # The guardian does not respond: the reading thread ends the guardian, and then the
            # rest.
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._ended.wait()

    def _write(self, line: bytes) -> None:
        if self._connection is not None:
            with suppress(OSError):  # the guardian has ended, and the worker with it
                self._connection.sendall(line)

    def _read_messages(self, connection: socket.socket, log_handler: logging.Handler) -> None:
        """Read messages on the reading thread until the connection ends or this user has left."""
        words = Lines(self._line_handler(log_handler))

        def handle_line(line: str) -> None:
            message = _read(line)
            if message is None:
                self.failure = line  # printed by a guardian that could not start
            elif "words" in message:
                words.feed(message["words"].encode("latin-1"))
            else:
                self._has_left = self._has_left or message.get("left", False)
                self._handle_message(message)
                self._answered.set()

        messages = Lines(handle_line)
        try:
            while not self._has_left and (data := _received(connection)):
                messages.feed(data)
            messages.end()
            words.end()
        finally:
            if not self._has_left:
                outlive(record_of(self._place), time.monotonic() + LATE_S)
                if self._guardian is not None:
                    self._guardian.wait()  # its record and connection end a moment before it does
                self._host.settle(self._place)
            connection.close()
            log_handler.close()
            self._ended.set()
            self._answered.set()
        if self._guardian is not None:
            self._guardian.wait()  # reaps this child, which can run on for other users


def connect(scratch: Path, guardian: int) -> socket.socket:
    """Connect to the guardian of a shared worker. Raises OSError if another process listens."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_REPLY_S)
        connection.connect(str(socket_of(scratch)))
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        if struct.unpack("3i", peer)[0] != guardian:
            raise ConnectionRefusedError  # another process listens there
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return connection


def send_command(scratch: Path, guardian: int, word: str) -> dict[str, Any]:
    """Send a command to the guardian of a shared worker without joining it.

    The answer to "stop" comes when the worker has ended.

    Raises:
        OSError: The guardian cannot be reached.
        ValueError: The answer is not text.
    """
    with connect(scratch, guardian) as connection, connection.makefile("rb") as lines:
        connection.settimeout(_REPLY_S)
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
