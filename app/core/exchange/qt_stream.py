"""Reading what Qt's QDataStream wrote (big-endian, as of Qt 6.2), with every length bounded.

The format is that of Qt's documentation, “Serializing Qt Data Types”.
"""

from __future__ import annotations

import struct

from app.core.exchange.found import Broken

_NULL = 0xFFFFFFFF
_MOST_ITEMS = 100_000
_INT, _UINT, _LONG, _ULONG, _DOUBLE = (struct.Struct(f">{it}") for it in "iIqQd")
_BOOL, _NUMBER, _UNSIGNED, _REAL, _STRING = 1, 2, 3, 6, 10
"""Types of QVariant."""


class QtStream:
    """Every method raises Broken where the data ends early or makes no sense."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self._place = place

    def skip(self, count: int) -> None:
        self._take(count)

    def flag(self) -> bool:
        return self._take(1) != b"\0"

    def int32(self) -> int:
        return int(_INT.unpack(self._take(4))[0])

    def uint32(self) -> int:
        return int(_UINT.unpack(self._take(4))[0])

    def int64(self) -> int:
        return int(_LONG.unpack(self._take(8))[0])

    def uint64(self) -> int:
        return int(_ULONG.unpack(self._take(8))[0])

    def count(self) -> int:
        """Of a list, as `qsizetype`."""
        return self._sane(self.int64())

    def count32(self) -> int:
        """Of a list, as `int`."""
        return self._sane(self.int32())

    def data(self) -> bytes:
        """A QByteArray, or the address of a QUrl."""
        length = self.uint32()
        return b"" if length == _NULL else self._take(length)

    def text(self) -> str:
        length = self.uint32()
        return "" if length == _NULL else self._take(length).decode("utf-16-be", "replace")

    def texts(self) -> list[str]:
        count = self.uint32()
        return [] if count == _NULL else [self.text() for _ in range(self._sane(count))]

    def variant(self) -> None:
        """Pass over a QVariant of a simple type."""
        kind = self.uint32()
        self.flag()
        match kind:
            case 0:
                return
            case _ if kind == _BOOL:
                self.flag()
            case _ if kind in (_NUMBER, _UNSIGNED):
                self.uint32()
            case _ if kind == _REAL:
                self.skip(_DOUBLE.size)
            case _ if kind == _STRING:
                self.text()
            case _:
                raise Broken("It holds a value of a kind that Hearth does not know.")

    def _sane(self, count: int) -> int:
        if not 0 <= count <= _MOST_ITEMS:
            raise Broken("Its data is damaged: a list has an impossible length.")
        return count

    def _take(self, count: int) -> bytes:
        end = self._place + count
        if count < 0 or end > len(self._data):
            raise Broken("The file breaks off.")
        taken = self._data[self._place : end]
        self._place = end
        return taken
