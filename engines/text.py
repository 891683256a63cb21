"""The conversion of an answer's bytes and pieces into text that can be shown; pure."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

SEAM = "\ufdd0"
"""A mark for a cut in a text, so that no token spans the cut.

Unicode assigns no character to this code point.
"""


_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal, except tabs and line ends.

These are the control characters of ASCII and Latin-1, and those that change the direction in which
text is shown.
"""


def harmless(text: str) -> str:
    """Make a text safe for a terminal: replace each control character with U+FFFD."""
    return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))


def on_one_line(text: str) -> str:
    """Make a name or a title safe for a terminal, with spaces for line ends and tabs."""
    return harmless(" ".join(text.split("\n")).replace("\t", " "))


def json_harmless(text: str) -> str:
    """Escape the control characters in JSON text, without changing its meaning."""
    return _CONTROL.sub(lambda character: f"\\u{ord(character[0]):04x}", text)


class Utf8Decoder:
    """A decoder that takes bytes and returns whole characters. Invalid UTF-8 becomes U+FFFD.

    Attributes:
        whole: Whether the bytes so far end at the end of a character.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.whole = True

    def feed(self, data: bytes) -> str:
        """Take bytes; return the characters that they complete."""
        if self.whole and data.isascii():
            return data.decode("ascii")
        text = self._decoder.decode(data)
        self.whole = not self._decoder.getstate()[0]
        return text

    def finish(self) -> str:
        """Return the rest: U+FFFD if the last character is incomplete."""
        self.whole = True
        return self._decoder.decode(b"", True)


def held_back(text: str, markers: Sequence[str]) -> int:
    """Return the length of the longest end of `text` that can begin one of `markers`."""
    longest, letters = _beginnings(tuple(markers))
    for start in range(max(0, len(text) + 1 - longest), len(text)):
        if text[start] in letters:
            end = text[start:]
            if any(len(marker) > len(end) and marker.startswith(end) for marker in markers):
                return len(end)
    return 0


@lru_cache(64)
def _beginnings(markers: tuple[str, ...]) -> tuple[int, frozenset[str]]:
    """Return the length of the longest marker, and the first letters of all markers."""
    return max(map(len, markers), default=0), frozenset(marker[:1] for marker in markers)


class StopStrings:
    """A filter that ends a text before the first stop string, however the text is cut into pieces.

    It holds back only text that can be the beginning of a stop string.

    Attributes:
        hit: The stop string that was found; "" if none was.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stop for stop in stops if stop)
        self._pending = ""
        self.hit = ""

    def feed(self, piece: str) -> str:
        """Take a piece; return the text that can be shown now, and nothing more after a hit."""
        if self.hit:
            return ""
        if not self._stops:
            return piece
        text = self._pending + piece
        hits = [
            (start + len(stop), start, stop)
            for stop in self._stops
            if (start := text.find(stop)) >= 0
        ]
        if hits:
            # Take the stop string that was complete first, as if the text had come letter by
            # letter.
            _, start, self.hit = min(hits)
            self._pending = ""
            return text[:start]
        ready = len(text) - held_back(text, self._stops)
        self._pending = text[ready:]
        return text[:ready]

    def finish(self) -> str:
        """Return the text held back, when the text ends without a hit."""
        rest, self._pending = self._pending, ""
        return rest


def amount(count: int) -> str:
    """Return a number of bytes in decimal units, for people: 5.2 GB, 18 MB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(count, 0) / 1e6:.0f} MB"
