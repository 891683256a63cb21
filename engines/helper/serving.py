"""A helper process that carries out orders one after the other; see `child.begin_serving`."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, Final

from engines.cancel import CancelToken
from engines.helper.child import END_OF_ANSWER
from engines.helper.clock import WorkClock, worked_too_long
from engines.helper.parent import ProcessResult, resident_bytes_of, start_helper
from engines.helper.result import line_of

_CHECK_S: Final = 0.1
_LAST_OUTPUT_S: Final = 1.0
"""Seconds for reading the last output of a dead process, whose children can keep the pipe open."""
_CHUNK_BYTES: Final = 1 << 16
_PIPE_BYTES: Final = 4096
"""Bytes that every system's empty pipe takes at once."""


class ServingHelper:
    """A process that answers orders one at a time; the owner calls `close`.

    If an order crashes it, or exceeds a limit, the process is gone, and `alive` is False. Only
    `kill` can be called while another thread waits for an answer.

    Args:
        modest: Start it with a low priority, on Windows.

    Attributes:
        orders: Number of orders so far.

    Raises:
        OSError: The process cannot be started.
    """

    def __init__(self, command: Sequence[str], *, modest: bool = True) -> None:
        self._child, self._orders = start_helper(command, modest=modest)
        self._pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._errors: deque[bytes] = deque(maxlen=16)
        self._listeners = [
            threading.Thread(target=_listen, args=(pipe, put), daemon=True)
            for pipe, put in (
                (self._child.stdout, self._pieces.put),
                (self._child.stderr, self._errors.append),
            )
        ]
        for listener in self._listeners:
            listener.start()
        self.orders = 0

    @property
    def alive(self) -> bool:
        """True if the process is still running."""
        return self._child.poll() is None

    def resident_bytes(self) -> int:
        """Return the resident memory of the process in bytes; 0 if it has ended."""
        return resident_bytes_of(self._child)

    def kill(self) -> None:
        """End the process at once; an order under way fails."""
        self._child.kill()

    def ask(
        self,
        order: Any,
        limit_s: float,
        cancel: CancelToken,
        memory_bytes: int,
        out_bytes: int,
        stalled_s: float | None = None,
    ) -> ProcessResult:
        """Have an order carried out; exceeding a limit or setting `cancel` kills the helper.

        Args:
            order: The order, as a JSON value.
            limit_s: Processor time in seconds, and the longest time without work.
            memory_bytes: Largest resident memory.
            out_bytes: Largest answer.
            stalled_s: Longest time without work in seconds, if not that of `WorkClock`.
        """
        self.orders += 1
        clock = WorkClock(self._child.pid, limit_s, stalled_s)
        unregister = cancel.on_cancel(self._child.kill)
        data = line_of(order)
        writer = threading.Thread(target=_write_all, args=(self._orders, data), daemon=True)
        if len(data) <= _PIPE_BYTES:
            writer.run()
        else:
            writer.start()  # a process that stands still would block this thread
        parts: list[bytes] = []
        in_time, too_much, ended = True, False, False
        try:
            checked_at = time.monotonic()
            while not ended:
                with suppress(queue.Empty):
                    piece = self._pieces.get(timeout=_CHECK_S)
                    if not piece:
                        self._pieces.put(piece)  # keep the end for the next call, too
                        break
                    parts.append(piece)
                    out_bytes -= len(piece)
                    ended = _is_complete(parts)
                too_much = out_bytes < 0
                if time.monotonic() - checked_at >= _CHECK_S:
                    checked_at = time.monotonic()
                    in_time = not clock.is_over()
                    too_much = too_much or self.resident_bytes() > memory_bytes
                if not ended and (too_much or not in_time):
                    self._child.kill()
                    break
        finally:
            unregister()
        code = 0
        if not ended:
            self._child.kill()
            code = self._child.wait()
            for listener in self._listeners:
                listener.join(_LAST_OUTPUT_S)
        if len(data) > _PIPE_BYTES:
            writer.join()  # ends, because the process has read the order or is dead
        err = b"".join(self._errors).decode(errors="replace")
        answer = b"".join(parts).removesuffix(END_OF_ANSWER if ended else b"")
        in_time = in_time and not worked_too_long(code)
        return ProcessResult(code, answer, err, in_time, too_much=too_much)

    def close(self) -> None:
        """Kill the process, and close its input."""
        self._child.kill()
        self._child.wait()
        os.close(self._orders)


def _listen(pipe: IO[bytes] | None, put: Any) -> None:
    """Pass on the data from a pipe, and an empty piece at its end."""
    if pipe is None:
        return
    with pipe:
        while part := pipe.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
            put(part)
    put(b"")


def _is_complete(parts: Sequence[bytes]) -> bool:
    """Return whether an answer is complete: its last line is empty."""
    last = parts[-1] if len(parts[-1]) > 1 else b"".join(parts[-2:])
    return last.endswith(b"\n" + END_OF_ANSWER) or (len(parts) == 1 and last == END_OF_ANSWER)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    with suppress(OSError):  # the process has ended, which the reader notices
        while left:
            left = left[os.write(descriptor, left) :]
