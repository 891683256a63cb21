"""The harmony format of gpt-oss, in which an answer is several messages, each in a channel.

<|channel|>analysis<|message|>reasoning<|end|><|start|>assistant<|channel|>final<|message|>answer

A tool call is a message addressed to the tool:
<|channel|>commentary to=functions.NAME …<|message|>{…}

Source: OpenAI's description of the harmony response format.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from engines.dialect.formats import mark
from engines.dialect.tools import CallLog
from engines.text import SEAM, held_back
from engines.types import ReasoningDelta, TextDelta, ToolCall, ToolCallDelta, WasReasoning

Delta = TextDelta | ReasoningDelta | WasReasoning | ToolCallDelta | ToolCall

_FINAL: Final = "final"
_TO: Final = re.compile(r"\bto=(?:functions\.)?([\w.-]+)")


class ChannelSplitter:
    """A splitter by channel: the final channel is the answer, every other one is reasoning.

    If a model begins without a channel, its text is the answer.

    Args:
        marked: The markers that are tokens of the vocabulary.
        begins: Where the answer begins.
        calls: Gets the messages to tools; None leaves them in the reasoning.
    """

    def __init__(
        self,
        marked: frozenset[str],
        begins: Literal["start", "reasoning", "answer"] = "start",
        calls: CallLog | None = None,
    ) -> None:
        self._calls = calls
        self._calling = False
        self._start = mark("<|start|>", marked)
        self._channel = mark("<|channel|>", marked)
        self._message = mark("<|message|>", marked)
        self._ends = (mark("<|end|>", marked), self._start)
        self._buffer = ""
        self._name = "" if begins == "start" else "analysis" if begins == "reasoning" else _FINAL
        self._in_header = False
        self._fresh = begins == "start"

    @property
    def reasoning(self) -> bool:
        """True if the next text is reasoning."""
        within = not (self._in_header or self._fresh or self._calling)
        return within and self._name != _FINAL

    def feed(self, text: str) -> list[Delta]:
        """Take the next text; return the deltas that are certain now."""
        deltas: list[Delta] = []
        self._buffer += text
        while self._step(deltas):
            pass
        return deltas

    def finish(self) -> list[Delta]:
        """Return the text held back, when no more follows."""
        deltas: list[Delta] = []
        rest, self._buffer = self._buffer, ""
        # At the start of a message this is the beginning of a marker that was cut off.
        marker = "<" if self._name else "<|"
        begun = self._fresh and rest.lstrip().replace(SEAM, "").startswith(marker)
        if not self._in_header and not begun:
            self._emit(deltas, rest)
        return deltas

    def _step(self, deltas: list[Delta]) -> bool:
        if self._in_header:
            # A grammar may have forced this header, and grammars know letters but not tokens.
            message = self._message if self._calls is None else "<|message|>"
            header, found, rest = self._buffer.partition(message)
            if found:
                words = header.rpartition(self._channel)[2].split()
                self._name = words[0].replace(SEAM, "") if words else _FINAL
                self._buffer, self._in_header = rest, False
                to = _TO.search(header.replace(SEAM, " "))
                if self._calls is not None and to is not None:
                    self._calling = True
                    deltas.append(self._calls.begin(to[1]))
            return bool(found)
        if self._fresh:
            begun = self._buffer.lstrip()
            headers = (self._channel, self._start, *(("to=",) if self._calls is not None else ()))
            if begun.startswith(headers):
                self._buffer, self._in_header, self._fresh = begun, True, False
                return True
            if any(header.startswith(begun) for header in headers):
                return False
            self._fresh, self._name = False, self._name or _FINAL
            return True
        found_at = [(at, end) for end in self._ends if (at := self._buffer.find(end)) >= 0]
        if found_at:
            at, marker = min(found_at)
            self._emit(deltas, self._buffer[:at])
            if self._calling and self._calls is not None:
                deltas.append(self._calls.end())
                self._calling = False
            self._buffer = self._buffer[at + (0 if marker == self._start else len(marker)) :]
            self._fresh = True
            return True
        ready = len(self._buffer) - held_back(self._buffer, self._ends)
        text, self._buffer = self._buffer[:ready], self._buffer[ready:]
        self._emit(deltas, text)
        return False

    def _emit(self, deltas: list[Delta], text: str) -> None:
        if not (text := text.replace(SEAM, "")):
            return
        if self._calling and self._calls is not None:
            deltas.append(self._calls.more(text))
        else:
            deltas.append(ReasoningDelta(text) if self.reasoning else TextDelta(text))
