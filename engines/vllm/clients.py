"""Clients of a shared worker, as its guardian sees them.

Each client (a Hearth process) holds a connection open, which ends with the process however it ends.
So a killed client is gone at once, and when the last one is gone the worker ends. Only a client
that says so when it leaves keeps the worker running, for as many seconds as it names.

The protocol is text lines. A user sends "join", "leave SECONDS" or "stop". A client that does not
use the worker sends "look", or "end", which ends a worker without users. The first connection,
which carried the order, counts as joined. Users receive JSON: {"began": pid}, {"words": text} from
the worker's log, {"left": bool}, {"users": number, "left_s": seconds or null}, {"computed":
seconds, "compiles": bool}, and finally {"ended": code}.

Uses the standard library only, because the guardian imports it.
"""

from __future__ import annotations

import json
import math
import os
import select
import socket  # noqa: TID251  between processes of this computer
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_CHUNK: Final = 4096
"""Bytes of log in one message, so that its JSON stays below the longest line that is read."""
_TAIL: Final = 16
"""Number of recent log messages that a client receives when it joins."""
_MOST_PENDING: Final = 1 << 20
"""Bytes that can wait for a client that does not read; it loses further messages."""
_LAST_S: Final = 1.0
"""Seconds that clients get to read the last messages."""


def socket_of(scratch: Path) -> Path:
    """Return the path of the socket on which a shared worker's guardian listens."""
    return scratch / "d.sock"


class WorkerClients:
    """The clients of one worker.

    Args:
        path: Socket for further clients, in a private folder.
        first: Descriptor of the first client's connection.

    Attributes:
        log_input: Descriptor that the worker writes its log to.
        stop_requested: A client has asked for the worker's end.
    """

    def __init__(self, path: Path, first: int) -> None:
        self._listener: socket.socket | None = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._log, self.log_input = os.pipe()
        os.set_blocking(self._log, False)
        self._log_ended = False
        self._tail: deque[bytes] = deque(maxlen=_TAIL)
        self._began = b""
        self._clients = [_Client(socket.socket(fileno=first), joined=True)]
        self._ends_at: float | None = None
        self.stop_requested = False

    @property
    def is_ending(self) -> bool:
        """True if the worker is to end, because a client asked for it or the last user left."""
        return self.stop_requested or (
            self._ends_at is not None and time.monotonic() >= self._ends_at
        )

    def broadcast(self, message: Mapping[str, Any]) -> None:
        """Send a message to all clients that have joined."""
        self._send(_as_line(message))

    def announce_start(self, pid: int) -> None:
        """Announce that the worker has started, and close this process's copy of its log pipe."""
        os.close(self.log_input)
        self._began = _as_line({"began": pid})
        self._send(self._began)

    def serve(self, wake: int, seconds: float) -> None:
        """Serve clients and the worker's log until something arrives or the time is up.

        Args:
            wake: Descriptor that becomes readable when a signal arrives.
            seconds: Longest time to wait.
        """
        if self._ends_at is not None:
            seconds = max(0.0, min(seconds, self._ends_at - time.monotonic()))
        sources: list[int | socket.socket | _Client] = [wake, *self._clients]
        if not self._log_ended:
            sources.append(self._log)
        if self._listener is not None:
            sources.append(self._listener)
        pending = [client for client in self._clients if client.pending]
        ready, writable, _ = select.select(sources, pending, [], seconds)
        if wake in ready:
            os.read(wake, 512)
        if self._log in ready:
            self._forward_log()
        if self._listener is not None and self._listener in ready:
            self._clients.append(_Client(self._listener.accept()[0]))
        for client in writable:
            client.flush()
        for client in [client for client in self._clients if client in ready]:
            self._handle_commands(client)

    def shut(self) -> None:
        """Let no more clients in, because the worker is ending. `close` tells the present ones."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._ends_at = None

    def close(self, code: int) -> None:
        """Send the rest of the log and the exit code, and give clients `_LAST_S` to read it."""
        while not self._log_ended and self._forward_log():
            pass
        self.broadcast({"ended": code})
        deadline = time.monotonic() + _LAST_S
        while (
            left := [client for client in self._clients if client.pending]
        ) and time.monotonic() < deadline:
            for client in select.select([], left, [], _LAST_S)[1]:
                client.flush()

    def _forward_log(self) -> bool:
        """Pass on a piece of the log; return whether there was one."""
        try:
            data = os.read(self._log, _CHUNK)
        except BlockingIOError:
            return False
        self._log_ended = not data
        if data:
            # Latin-1 maps each byte to one character, so no letter is split between two messages.
            self._tail.append(_as_line({"words": data.decode("latin-1")}))
            self._send(self._tail[-1])
        return bool(data)

    def _handle_commands(self, client: _Client) -> None:
        for word, argument in client.read_commands():
            match word:
                case "join":
                    client.joined, self._ends_at = True, None
                    client.send(self._began + b"".join(self._tail))
                case "leave":
                    self._leave(client, stays_s=_seconds(argument))
                case "look":
                    client.send(_as_line({"users": self._count, "left_s": self._left_s}))
                case "end":
                    client.send(_as_line({"users": self._count}))
                    self.stop_requested = self.stop_requested or not self._count
                case _:
                    self.stop_requested = True
        if client.has_ended:
            self._clients.remove(client)
            if client.joined:
                self._leave(client, stays_s=0.0)
            client.close()

    def _leave(self, client: _Client, stays_s: float) -> None:
        """Remove a user; after the last one, end the worker or keep it for `stays_s` seconds."""
        client.joined = False
        if not self._count:
            self._ends_at = time.monotonic() + stays_s
        client.send(_as_line({"left": bool(self._count or stays_s)}))

    @property
    def _count(self) -> int:
        return sum(client.joined for client in self._clients)

    @property
    def _left_s(self) -> float | None:
        return None if self._ends_at is None else max(0.0, self._ends_at - time.monotonic())

    def _send(self, line: bytes) -> None:
        for client in self._clients:
            if client.joined:
                client.send(line)


class _Client:
    """A client's connection.

    Attributes:
        joined: The client uses the worker.
        pending: Bytes that it has not read yet.
        has_ended: The connection has ended.
    """

    def __init__(self, connection: socket.socket, *, joined: bool = False) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._rest = b""
        self.joined = joined
        self.pending = bytearray()
        self.has_ended = False

    def fileno(self) -> int:
        return self._connection.fileno()

    def read_commands(self) -> list[tuple[str, str]]:
        """Read commands as (word, argument); a line that is too long ends the connection."""
        try:
            data = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        commands = [line.decode("ascii", "replace").partition(" ") for line in lines]
        self.has_ended = not data or len(self._rest) > _CHUNK
        return [(word, argument) for word, _, argument in commands]

    def send(self, line: bytes) -> None:
        if len(self.pending) < _MOST_PENDING:
            self.pending += line
            self.flush()

    def flush(self) -> None:
        try:
            del self.pending[: self._connection.send(self.pending)]
        except BlockingIOError:
            return
        except OSError:
            self.pending.clear()  # the next read finds that the connection has ended

    def close(self) -> None:
        self._connection.close()


def _seconds(text: str) -> float:
    """Return the number of seconds in a command; 0 if the text is not one."""
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if 0.0 <= seconds < math.inf else 0.0


def _as_line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"
