"""Turns the bytes of an answer's tokens into the events that show it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engines.dialect import CallReader, Splitter
from engines.text import SEAM, StopStrings, Utf8Decoder
from engines.types import ReasoningDelta, TextDelta, ToolCall, ToolCallDelta, WasReasoning

Delta = TextDelta | ReasoningDelta | WasReasoning | ToolCallDelta | ToolCall


class Writer:
    """Writes whole characters, separates the reasoning, and ends the answer at a stop string.

    Args:
        splitter: Separates reasoning from the answer.
        stops: The stop strings.
        calls: Reads calls, if tools were offered.
        least: Number of tokens at the beginning in which stop strings are ignored.

    Attributes:
        known: Number of pieces up to the last one that ended with a whole character.
        raw: The text of those pieces, including markers and the stop string.
        stopped: The stop string that was found, after which nothing more is shown; "" before.
        reasoning_pieces: Number of pieces that were reasoning, without markers.
        called: Whether the model has called a tool.
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
        """The text of the complete pieces, including markers and the stop string."""
        return "".join(self._parts[: self.known])

    @property
    def stopped(self) -> str:
        """The stop string that was found; "" before."""
        return self._stops.hit

    @property
    def called(self) -> bool:
        """True if the model has called a tool."""
        return self._called

    def feed(self, piece: bytes, marker: str = "") -> list[Delta]:
        """Take the next token, and return the events that it adds.

        Args:
            piece: The token's bytes.
            marker: The token's text, if it is a marker of the dialect.
        """
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
            # The waiting pieces were the marker that ended the reasoning.
            self._waiting = 0
        return self._events_of(deltas)

    def finish(self, *, ended: bool) -> list[Delta]:
        """Return the events that were held back, as nothing more follows.

        Args:
            ended: Whether the model ended its answer, so that half a character at the end will
                never be completed. If the answer was cut off instead, the character is written
                again when it continues.
        """
        events: list[Delta] = []
        if ended and (text := self._characters.finish()):
            self._parts[-1] += text
            self.known = len(self._parts)
            events += self._events_of(self._splitter.feed(text))
        events += self._events_of(self._splitter.finish())
        if self._calls is not None:
            self._add_until_stop(self._calls.finish(ended=ended), events)
        if rest := self._stops.finish():
            events.append(TextDelta(rest))
        return events

    def _events_of(self, deltas: Sequence[Delta]) -> list[Delta]:
        events: list[Delta] = []
        for delta in deltas:
            if isinstance(delta, WasReasoning) and (rest := self._stops.finish()):
                events.append(TextDelta(rest))
            if self._calls is not None and isinstance(delta, TextDelta):
                self._add_until_stop(self._calls.feed(delta.text), events)
            else:
                self._add_until_stop((delta,), events)
        return events

    def _add_until_stop(self, deltas: Sequence[Delta], events: list[Delta]) -> None:
        """Add events up to a stop string; the arguments of calls are not searched for one."""
        for delta in deltas:
            if not isinstance(delta, TextDelta):
                self._called = self._called or isinstance(delta, ToolCall)
                events.append(delta)
                continue
            text = delta.text.replace(SEAM, "")
            if len(self._parts) > self._least:
                text = self._stops.feed(text)
            if text:
                events.append(delta if text == delta.text else TextDelta(text))


def seamed(text: str, marker: str) -> str:
    """Return a token's text for splitters, with a SEAM only before a marker at its end."""
    if not marker:
        return text.replace(SEAM, "\N{REPLACEMENT CHARACTER}")
    plain = text.removesuffix(marker).replace(SEAM, "\N{REPLACEMENT CHARACTER}")
    return plain + SEAM + marker
