"""The detection of answers that loop: the same run of text again and again, word for word.

Text that only looks alike differs somewhere, such as in a number, and is not a loop. In code,
tables and lists the same line can properly be repeated many times, so there only a much longer
repetition counts as a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Final

from engines.cancel import CancelToken
from engines.sentences import N_
from engines.types import ChatRequest, Done, Event, ReasoningDelta, TextDelta

NOTE: Final = N_("The answer was stopped because it repeated itself.")

_LONGEST: Final = 2_048
"""The longest run of text, in characters, that can count as a loop."""
_TIMES: Final = 8
_LEAST: Final = 1_000
"""The fewest characters that a loop fills, some 250 tokens."""
_LEAST_IN_LINES: Final = 8_000
"""The same for code, tables and lists, and for text without letters, such as a drawn line."""
_KEPT: Final = max(_TIMES * _LONGEST, _LEAST_IN_LINES)
_SAMPLE: Final = 32
"""Characters at the end whose earlier positions show how long a run can be."""
_EVERY: Final = 256
"""The number of new characters after which the text is checked again."""


class RepetitionWatch:
    """A check for loops in one growing text."""

    def __init__(self) -> None:
        self._tail = ""
        self._line = ""
        self._fenced = False
        self._new = 0

    def feed(self, text: str) -> bool:
        """Add a piece of the text; return whether the text loops."""
        self._tail = (self._tail + text)[-_KEPT:]
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            self._fenced ^= line.lstrip().startswith(("```", "~~~"))
        self._new += len(text)
        if self._new < _EVERY:
            return False
        self._new = 0
        return any(self._loops(period) for period in self._periods())

    def _periods(self) -> Iterator[int]:
        """Yield possible lengths of a run, from the earlier places of the last characters."""
        tail = self._tail
        sample, end = tail[-_SAMPLE:], len(tail)
        while (position := tail.rfind(sample, 0, end - 1)) >= 0:
            end = position + _SAMPLE
            if (period := len(tail) - end) > _LONGEST:
                return
            yield period

    def _loops(self, period: int) -> bool:
        """Return whether a long end of the text repeats with this period."""
        tail = self._tail
        run = tail[-period:]
        plain = not self._fenced and any(map(str.isalnum, run)) and not _in_lines(run)
        filled = max(_TIMES * period, _LEAST if plain else _LEAST_IN_LINES)
        return len(tail) >= filled and tail[-filled + period :] == tail[-filled:-period]


def _in_lines(run: str) -> bool:
    """Return whether a run consists of table rows, list items or indented lines."""
    lines = [line for line in run.split("\n") if line.strip()]
    prefixes = ("|", "- ", "* ", "+ ", "    ", "\t")
    return "\n" in run and all(line.startswith(prefixes) for line in lines[1:] or lines)


def ending_loops(
    chat: Callable[[ChatRequest, CancelToken], Generator[Event, None, None]],
    request: ChatRequest,
    cancel: CancelToken,
) -> Generator[Event, None, None]:
    """Answer as an engine's `chat` does, but end an answer that loops.

    Its Done then has the finish reason "repetition" and a note.
    """
    chat_cancel = CancelToken()
    forget = cancel.on_cancel(chat_cancel.cancel)
    watches = {TextDelta: RepetitionWatch(), ReasoningDelta: RepetitionWatch()}
    has_loop = False
    try:
        with closing(chat(request, chat_cancel)) as events:
            for event in events:
                if isinstance(event, Done) and has_loop and event.finish_reason == "cancelled":
                    yield replace(event, finish_reason="repetition", notes=(*event.notes, NOTE))
                    continue
                yield event
                if isinstance(event, TextDelta | ReasoningDelta) and not has_loop:
                    has_loop = watches[type(event)].feed(event.text)
                    if has_loop:
                        chat_cancel.cancel()
    finally:
        forget()
