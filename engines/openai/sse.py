"""Server-sent events from bytes, however they are cut: pure.

The format is that of the HTML standard, section “Server-sent events”: lines end in CR, LF or both,
a blank line ends an event, a line that begins with a colon is a comment.
"""

from __future__ import annotations

from collections.abc import Iterator

MOST_EVENT = 8 << 20
"""Bytes of one event, all its lines counted: an answer that comes in one piece is one."""


class Events:
    """Bytes in, the data of whole events out; an event that does not end is refused."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._size = 0
        self._data: list[str] = []
        self._after_cr = False
        self._first = True

    def feed(self, data: bytes) -> Iterator[str]:
        """Raises ValueError for a line or an event that has no end."""
        if self._after_cr:
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r") or (self._after_cr and not data)
        *lines, rest = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in lines:
            yield from self._ended(bytes(self._line) + line)
            self._line.clear()
        self._line += rest
        self._require_end(len(self._line))

    def finish(self) -> Iterator[str]:
        """What was begun: many servers leave out the last blank line."""
        if self._line:
            yield from self._ended(bytes(self._line))
            self._line.clear()
        yield from self._event()

    def _ended(self, line: bytes) -> Iterator[str]:
        if self._first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        if not line:
            yield from self._event()
            return
        self._require_end(len(line) + 1)
        name, _, value = line.partition(b":")
        if name == b"data":
            self._size += len(line) + 1
            # A line holds whole characters, wherever the bytes were cut.
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))

    def _event(self) -> Iterator[str]:
        if self._data:
            yield "\n".join(self._data)
            self._data.clear()
            self._size = 0

    def _require_end(self, more: int) -> None:
        if self._size + more > MOST_EVENT:
            raise ValueError("an event without an end")
