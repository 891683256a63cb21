"""From the bytes of an answer's tokens to what is shown of it: pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.dialect import Reasoning, ReasoningSplitter
from engines.text import StopStrings, Utf8Decoder
from engines.types import ReasoningDelta, TextDelta

Delta = TextDelta | ReasoningDelta


class Writer:
    """Whole characters, the reasoning apart, the answer ended before a stop string.

    known: how many of the pieces there are up to the last that ended with a whole character.
    raw: the text of those, markers and stop string with it.
    stopped: a stop string was met; nothing more is shown.
    """

    def __init__(
        self, reasoning: Reasoning | None, stops: Sequence[str], *, inside_reasoning: bool
    ) -> None:
        self._characters = Utf8Decoder()
        self._splitter = ReasoningSplitter(reasoning, inside=inside_reasoning)
        self._stops = StopStrings(stops)
        self._parts: list[str] = []
        self.known = 0

    @property
    def raw(self) -> str:
        return "".join(self._parts[: self.known])

    @property
    def stopped(self) -> bool:
        return self._stops.hit

    def feed(self, piece: bytes) -> Iterator[Delta]:
        text = self._characters.feed(piece)
        self._parts.append(text)
        if self._characters.whole:
            self.known = len(self._parts)
        return self._shown(self._splitter.feed(text))

    def finish(self, *, ended: bool) -> Iterator[Delta]:
        """What was held back, now that nothing follows.

        ended: the model ended its answer, so half a character at the end will never be whole. Of
        an answer that was cut there, the character is written anew when it is continued.
        """
        if ended and (text := self._characters.finish()):
            self._parts[-1] += text
            self.known = len(self._parts)
            yield from self._shown(self._splitter.feed(text))
        yield from self._shown(self._splitter.finish())
        if rest := self._stops.finish():
            yield TextDelta(rest)

    def _shown(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        for delta in deltas:
            if isinstance(delta, ReasoningDelta):
                yield delta
            elif text := self._stops.feed(delta.text):
                yield TextDelta(text)
