"""The separation of a model's reasoning from its answer while they stream, however it is cut."""

from __future__ import annotations

from typing import Literal, Protocol

from engines.dialect.formats import ReasoningFormat
from engines.dialect.harmony import ChannelSplitter
from engines.dialect.tools import CallLog
from engines.text import SEAM, held_back
from engines.types import ReasoningDelta, TextDelta, ToolCall, ToolCallDelta, WasReasoning

Begins = Literal["start", "reasoning", "answer"]
"""The place where an answer begins: at its very start, within its reasoning, or after that."""

Delta = TextDelta | ReasoningDelta | WasReasoning | ToolCallDelta | ToolCall

_MOST_BLANKS = 4096
"""The most blank characters before an opening marker; after more, none is looked for."""


class Splitter(Protocol):
    """A splitter of text into reasoning and answer; it holds back incomplete markers.

    The answer keeps its SEAMs, for the reader of the calls in it.
    """

    @property
    def reasoning(self) -> bool:
        """True if the next text is reasoning."""
        ...

    def feed(self, text: str) -> list[Delta]:
        """Take the next text; return the deltas that are certain now."""
        ...

    def finish(self) -> list[Delta]:
        """Return the text held back, when no more follows."""
        ...


def open_splitter(
    format_: ReasoningFormat | None,
    begins: Begins = "start",
    *,
    expected: bool = False,
    calls: CallLog | None = None,
) -> Splitter:
    """Make the splitter of one answer.

    Args:
        format_: The reasoning format; None if the model does not reason.
        begins: Where the answer begins.
        expected: Whether the model will reason, even without the opening marker.
        calls: Gets the calls that come in channels; None leaves them unread.
    """
    if format_ is None:
        return _Whole()
    if format_.channels:
        return ChannelSplitter(format_.marked, begins, calls)
    return PairSplitter(format_, begins, expected=expected)


class _Whole:
    """The splitter for a model that does not reason: all text is the answer."""

    reasoning = False

    def feed(self, text: str) -> list[Delta]:
        """Return the text unchanged, as the answer."""
        return [TextDelta(text)] if text else []

    def finish(self) -> list[Delta]:
        """Return nothing, because no text is ever held back."""
        return []


class PairSplitter:
    """The splitter for reasoning between two markers, before the answer.

    Markers count only before the answer has begun; after that, they are ordinary text. There is one
    exception, for models that leave out the opening marker: if reasoning is `expected`, a first
    closing marker at the beginning of a line turns all text before it into reasoning.
    """

    def __init__(
        self, format_: ReasoningFormat, begins: Begins = "start", *, expected: bool = False
    ) -> None:
        self._format = format_
        self._state: Begins = begins
        self._buffer = ""
        self._trim = begins == "reasoning"
        self._wrapped = begins == "answer" and format_.wraps is not None
        self._omitted = begins == "start" and expected
        self._line = ""

    @property
    def reasoning(self) -> bool:
        """True if the next text is reasoning."""
        return self._state == "reasoning"

    def feed(self, text: str) -> list[Delta]:
        """Take the next text; return the deltas that are certain now."""
        deltas: list[Delta] = []
        if self._state == "answer" and not (self._buffer or self._omitted or self._wrapped):
            self._emit(deltas, text)
            return deltas
        self._buffer += text
        while self._step(deltas):
            pass
        return deltas

    def finish(self) -> list[Delta]:
        """Return the text held back, when no more follows."""
        deltas: list[Delta] = []
        rest, self._buffer = self._buffer, ""
        if self._wrapped and self._format.wraps and rest.strip() == self._format.wraps[1]:
            rest = ""
        self._emit(deltas, rest)
        return deltas

    def _step(self, deltas: list[Delta]) -> bool:
        """Handle the text up to the next marker; return False if there is none yet."""
        if self._state == "start":
            return self._start()
        if self._state == "reasoning":
            return self._reason(deltas)
        return self._answer(deltas)

    def _start(self) -> bool:
        """Find the marker that the text begins with; return False if more text is needed."""
        begun = self._buffer.lstrip()
        openings = dict.fromkeys(self._format.opens, "reasoning")
        if self._format.wraps:
            openings[self._format.wraps[0]] = "answer"
        for marker, state in openings.items():
            if begun.startswith(marker):
                self._buffer = begun.removeprefix(marker)
                self._state = "reasoning" if state == "reasoning" else "answer"
                self._wrapped = state == "answer"
                self._trim, self._omitted = True, False
                return True
        waits = any(marker.startswith(begun) for marker in openings)
        if waits and len(self._buffer) <= _MOST_BLANKS:
            return False
        self._state = "answer"
        return True

    def _reason(self, deltas: list[Delta]) -> bool:
        found = [
            (at, marker) for marker in self._format.closes if (at := self._buffer.find(marker)) >= 0
        ]
        if found:
            at, marker = min(found)
            self._emit(deltas, self._buffer[:at])
            self._buffer = self._buffer[at + len(marker) :]
            self._state, self._trim = "start", True
            return True
        self._emit_but(deltas, held_back(self._buffer, self._format.closes))
        return False

    def _answer(self, deltas: list[Delta]) -> bool:
        if self._omitted:
            return self._find_unopened_end(deltas)
        keep = 0
        if self._wrapped and self._format.wraps:
            # The closing tag counts only at the very end.
            closing = self._format.wraps[1]
            ended = self._buffer.rstrip()
            blanks = len(self._buffer) - len(ended)
            if ended.endswith(closing):
                keep = len(closing) + blanks
            elif not blanks:
                keep = held_back(ended, (closing,))
        self._emit_but(deltas, keep)
        return False

    def _find_unopened_end(self, deltas: list[Delta]) -> bool:
        """Find out, line by line, whether this is reasoning without an opening marker."""
        markers = (*self._format.closes, *self._format.opens)
        found = [(at, marker) for marker in markers if (at := self._buffer.find(marker)) >= 0]
        if not found:
            self._emit_but(deltas, held_back(self._buffer, markers))
            return False
        at, marker = min(found)
        line = self._line + self._buffer[:at].replace(SEAM, "")
        self._omitted = False
        if marker in self._format.opens or line.rpartition("\n")[2].strip():
            return True
        self._emit(deltas, self._buffer[:at])
        deltas.append(WasReasoning())
        self._buffer = self._buffer[at + len(marker) :]
        self._state, self._trim = "start", True
        return True

    def _emit_but(self, deltas: list[Delta], keep: int) -> None:
        """Emit all but the last `keep` characters."""
        ready = len(self._buffer) - keep
        text, self._buffer = self._buffer[:ready], self._buffer[ready:]
        self._emit(deltas, text)

    def _emit(self, deltas: list[Delta], text: str) -> None:
        if self._state == "reasoning":
            text = text.replace(SEAM, "")
        if self._trim:
            text = text.lstrip("\n")
            self._trim = not text
        if text:
            if self._omitted:
                # One character is enough to know that the line is not blank, however long it is.
                self._line = (self._line + text.replace(SEAM, "")).rpartition("\n")[2].strip()[:1]
            delta = ReasoningDelta if self._state == "reasoning" else TextDelta
            deltas.append(delta(text))
