"""Turns the bytes of an answer's tokens into what is shown of it: pure."""

from __future__ import annotations

from collections.abc import Sequence

from engines.dialect import CallReader, Splitter
from engines.text import SEAM, StopStrings, Utf8Decoder
from engines.types import ReasoningDelta, TextDelta, ToolCall, ToolCallDelta, WasReasoning

Delta = TextDelta | ReasoningDelta | WasReasoning | ToolCallDelta | ToolCall


class Writer:
    """Writes whole characters, splits reasoning off, and ends the answer at a stop string.

    known: how many of the pieces there are up to the last that ended with a whole character.
    raw: the text of those, markers and stop string with it.
    stopped: the stop string that was met, after which nothing more is shown; "" before.
    reasoning_pieces: how many were reasoning, without markers.
    called: the model has asked for a tool. calls: reads that, where tools were offered.
    least: tokens at the beginning in which no stop string counts.
    """

    def __init__(
        self,
        splitter: Splitter,
        stops: Sequence[str],
        calls: CallReader | None = None,
        least: int = 0,
    ) -> None:
        self._characters = Utf8Decoder()
        self._splitter = splitter
        self._stops = StopStrings(stops)
        self._calls = calls
        self._least = least
        self._parts: list[str] = []
        self.known = 0
        self.reasoning_pieces = 0
        self._waiting = 0
        self._called = False

    @property
    def raw(self) -> str:
        return "".join(self._parts[: self.known])

    @property
    def stopped(self) -> str:
        return self._stops.hit

    @property
    def called(self) -> bool:
        return self._called

    def feed(self, piece: bytes, marker: str = "") -> list[Delta]:
        """Take the next token. marker: its text, if it is a marker of the dialect."""
        decode = self._characters
        text = decode.finish() + marker if marker else decode.feed(piece)
        self._parts.append(text)
        if self._characters.whole:
            self.known = len(self._parts)
        within = self._splitter.reasoning
        deltas = self._splitter.feed(seamed(text, marker))
        if within and self._splitter.reasoning:
            self._waiting += 1
            if deltas:
                self.reasoning_pieces += self._waiting
                self._waiting = 0
        else:
            # What waited was the marker that ended the reasoning.
            self._waiting = 0
        return self._shown(deltas)

    def finish(self, *, ended: bool) -> list[Delta]:
        """Return what was held back, now that nothing follows.

        ended: the model ended its answer, so half a character at the end will never be whole. Of
        an answer that was cut there, the character is written anew when it is continued.
        """
        shown: list[Delta] = []
        if ended and (text := self._characters.finish()):
            self._parts[-1] += text
            self.known = len(self._parts)
            shown += self._shown(self._splitter.feed(text))
        shown += self._shown(self._splitter.finish())
        if self._calls is not None:
            self._end(self._calls.finish(ended=ended), shown)
        if rest := self._stops.finish():
            shown.append(TextDelta(rest))
        return shown

    def _shown(self, deltas: Sequence[Delta]) -> list[Delta]:
        shown: list[Delta] = []
        for delta in deltas:
            if isinstance(delta, WasReasoning) and (rest := self._stops.finish()):
                shown.append(TextDelta(rest))
            if self._calls is not None and isinstance(delta, TextDelta):
                self._end(self._calls.feed(delta.text), shown)
            else:
                self._end((delta,), shown)
        return shown

    def _end(self, deltas: Sequence[Delta], shown: list[Delta]) -> None:
        """Add what comes before a stop string; what a tool is asked holds none."""
        for delta in deltas:
            if not isinstance(delta, TextDelta):
                self._called = self._called or isinstance(delta, ToolCall)
                shown.append(delta)
                continue
            text = delta.text.replace(SEAM, "")
            if len(self._parts) > self._least:
                text = self._stops.feed(text)
            if text:
                shown.append(delta if text == delta.text else TextDelta(text))


def seamed(text: str, marker: str) -> str:
    """Return a token's text for splitters: only a marker at its end has a SEAM before it."""
    if not marker:
        return text.replace(SEAM, "\N{REPLACEMENT CHARACTER}")
    plain = text.removesuffix(marker).replace(SEAM, "\N{REPLACEMENT CHARACTER}")
    return plain + SEAM + marker
