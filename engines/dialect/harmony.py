"""The harmony format of gpt-oss: an answer is several messages, each in a channel.

<|channel|>analysis<|message|>reasoning<|end|><|start|>assistant<|channel|>final<|message|>answer
Source: OpenAI's description of the harmony response format.
"""

from __future__ import annotations

from typing import Literal

from engines.dialect.formats import mark
from engines.text import SEAM, held_back
from engines.types import ReasoningDelta, TextDelta, WasReasoning

_FINAL = "final"


class ChannelSplitter:
    """Splits messages by channel: the final one is the answer, everything else is reasoning.

    A model that begins without a channel answers at once. marked: the markers that are tokens.
    """

    def __init__(
        self, marked: frozenset[str], begins: Literal["start", "reasoning", "answer"] = "start"
    ) -> None:
        self._start = mark("<|start|>", marked)
        self._channel = mark("<|channel|>", marked)
        self._message = mark("<|message|>", marked)
        self._ends = (mark("<|end|>", marked), self._start)
        self._held = ""
        self._name = "" if begins == "start" else "analysis" if begins == "reasoning" else _FINAL
        self._in_header = False
        self._fresh = begins == "start"

    @property
    def reasoning(self) -> bool:
        return not (self._in_header or self._fresh) and self._name != _FINAL

    def feed(self, text: str) -> list[TextDelta | ReasoningDelta | WasReasoning]:
        deltas: list[TextDelta | ReasoningDelta | WasReasoning] = []
        self._held += text
        while self._step(deltas):
            pass
        return deltas

    def finish(self) -> list[TextDelta | ReasoningDelta | WasReasoning]:
        deltas: list[TextDelta | ReasoningDelta | WasReasoning] = []
        held, self._held = self._held, ""
        if not self._in_header:
            self._emit(deltas, held)
        return deltas

    def _step(self, deltas: list[TextDelta | ReasoningDelta | WasReasoning]) -> bool:
        if self._in_header:
            header, found, rest = self._held.partition(self._message)
            if found:
                words = header.rpartition(self._channel)[2].split()
                self._name = words[0].replace(SEAM, "") if words else _FINAL
                self._held, self._in_header = rest, False
            return bool(found)
        if self._fresh:
            begun = self._held.lstrip()
            if begun.startswith((self._channel, self._start)):
                self._held, self._in_header, self._fresh = begun, True, False
                return True
            if any(it.startswith(begun) for it in (self._channel, self._start)):
                return False
            self._fresh, self._name = False, self._name or _FINAL
            return True
        found_at = [(at, it) for it in self._ends if (at := self._held.find(it)) >= 0]
        if found_at:
            at, marker = min(found_at)
            self._emit(deltas, self._held[:at])
            self._held = self._held[at + (0 if marker == self._start else len(marker)) :]
            self._fresh = True
            return True
        shown = len(self._held) - held_back(self._held, self._ends)
        text, self._held = self._held[:shown], self._held[shown:]
        self._emit(deltas, text)
        return False

    def _emit(self, deltas: list[TextDelta | ReasoningDelta | WasReasoning], text: str) -> None:
        if text := text.replace(SEAM, ""):
            deltas.append(ReasoningDelta(text) if self.reasoning else TextDelta(text))
