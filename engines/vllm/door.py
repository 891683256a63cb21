"""The guardian's side of a shared worker: the Hearths that use it, and what they are told.

Each has an open connection, which ends with its process, whatever ended that. So a user that was
killed is gone at once, and when the last one is, so is the worker. Only who says so when it leaves
has the worker stay behind it, for as many seconds as it says.

A line each way. A user says "join", "leave SECONDS" or "stop"; who does not use it says "look", or
"end", which ends a worker that nobody uses. The first connection, through which the order came, has
joined. Users hear JSON: {"began": pid}, {"words": text} of the worker's log, {"left": bool},
{"users": number, "left_s": seconds or null}, {"computed": seconds, "compiles": bool}, and at last
{"ended": code}.

Standard library only, since the guardian uses it.
"""

from __future__ import annotations

import json
import os
import select
import socket  # noqa: TID251  between processes of this computer
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_CHUNK: Final = 4096
"""Bytes of the log in a message: as JSON it stays below the longest line that is read."""
_TAIL: Final = 16
"""Messages of the log that who joins later still gets."""
_MOST_PENDING: Final = 1 << 20
"""Bytes that wait for a user who does not read; of the log, it misses what comes then."""
_LAST_S: Final = 1.0
"""How long the users may take to read the last of it."""


def door_of(scratch: Path) -> Path:
    """Return the socket at which a shared worker's guardian listens."""
    return scratch / "d.sock"


class Door:
    """The users of one worker. path: a socket for further ones, in a private folder.

    first: a descriptor of the first one's connection. words: where the worker writes its log.
    """

    def __init__(self, path: Path, first: int) -> None:
        self._listener: socket.socket | None = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._log, self.words = os.pipe()
        os.set_blocking(self._log, False)
        self._log_ended = False
        self._tail: deque[bytes] = deque(maxlen=_TAIL)
        self._began = b""
        self._users = [_User(socket.socket(fileno=first), joined=True)]
        self._until: float | None = None
        self.asked = False

    @property
    def over(self) -> bool:
        """Whether the worker shall end: it was asked for, or nobody uses it any more."""
        return self.asked or (self._until is not None and time.monotonic() >= self._until)

    def tell(self, what: Mapping[str, Any]) -> None:
        """Tell all who have joined."""
        self._send(_line(what))

    def begin(self, pid: int) -> None:
        """Tell that the worker has begun, and leave its end of the log to it."""
        os.close(self.words)
        self._began = _line({"began": pid})
        self._send(self._began)

    def serve(self, wake: int, seconds: float) -> None:
        """Hear users and the worker's log until something came, or a signal, or the time is up."""
        if self._until is not None:
            seconds = max(0.0, min(seconds, self._until - time.monotonic()))
        reading: list[int | socket.socket | _User] = [wake, *self._users]
        if not self._log_ended:
            reading.append(self._log)
        if self._listener is not None:
            reading.append(self._listener)
        pending = [it for it in self._users if it.pending]
        ready, able, _ = select.select(reading, pending, [], seconds)
        if wake in ready:
            os.read(wake, 512)
        if self._log in ready:
            self._hear_log()
        if self._listener is not None and self._listener in ready:
            self._users.append(_User(self._listener.accept()[0]))
        for user in able:
            user.flush()
        for user in [it for it in self._users if it in ready]:
            self._hear(user)

    def shut(self) -> None:
        """Let nobody in any more: the worker ends. Who is here is told when it has."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        self._until = None

    def close(self, code: int) -> None:
        """Tell the last of the log and the end, and wait until all have read it, but not long."""
        while not self._log_ended and self._hear_log():
            pass
        self.tell({"ended": code})
        deadline = time.monotonic() + _LAST_S
        while (left := [it for it in self._users if it.pending]) and time.monotonic() < deadline:
            for user in select.select([], left, [], _LAST_S)[1]:
                user.flush()

    def _hear_log(self) -> bool:
        """Pass a piece of the log on; returns whether there was one."""
        try:
            data = os.read(self._log, _CHUNK)
        except BlockingIOError:
            return False
        self._log_ended = not data
        if data:
            # One character for each byte, so that no letter is cut between two messages.
            self._tail.append(_line({"words": data.decode("latin-1")}))
            self._send(self._tail[-1])
        return bool(data)

    def _hear(self, user: _User) -> None:
        for word, told in user.hear():
            match word:
                case "join":
                    user.joined, self._until = True, None
                    user.send(self._began + b"".join(self._tail))
                case "leave":
                    self._leave(user, stays_s=float(told))
                case "look":
                    user.send(_line({"users": self._count, "left_s": self._left_s}))
                case "end":
                    user.send(_line({"users": self._count}))
                    self.asked = self.asked or not self._count
                case _:
                    self.asked = True
        if user.gone:
            self._users.remove(user)
            if user.joined:
                self._leave(user, stays_s=0.0)
            user.close()

    def _leave(self, user: _User, stays_s: float) -> None:
        """Let a user go; if it was the last one, the worker ends, or stays for a while."""
        user.joined = False
        if not self._count:
            self._until = time.monotonic() + stays_s
        user.send(_line({"left": bool(self._count or stays_s)}))

    @property
    def _count(self) -> int:
        return sum(it.joined for it in self._users)

    @property
    def _left_s(self) -> float | None:
        return None if self._until is None else max(0.0, self._until - time.monotonic())

    def _send(self, line: bytes) -> None:
        for user in self._users:
            if user.joined:
                user.send(line)


class _User:
    """A connection. pending: bytes that it has not taken yet. gone: it has ended."""

    def __init__(self, connection: socket.socket, *, joined: bool = False) -> None:
        connection.setblocking(False)
        self._connection = connection
        self._rest = b""
        self.joined = joined
        self.pending = bytearray()
        self.gone = False

    def fileno(self) -> int:
        return self._connection.fileno()

    def hear(self) -> list[tuple[str, str]]:
        """Read what it says, word by word with what is told beside it; one that is odd ends it."""
        try:
            data = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        *lines, self._rest = (self._rest + data).split(b"\n")
        said = [line.decode("ascii", "replace").partition(" ") for line in lines]
        self.gone = not data or len(self._rest) > _CHUNK
        return [(word, told) for word, _, told in said]

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
            self.pending.clear()  # its end is read next

    def close(self) -> None:
        self._connection.close()


def _line(what: Mapping[str, Any]) -> bytes:
    return json.dumps(what).encode() + b"\n"
