"""Tools in the form that chat templates take, and calls as models write them.

The form is that of Hermes and Qwen: <tool_call>{"name": …, "arguments": {…}}</tool_call>. Source:
the chat templates that their makers publish.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from typing import Any, Final

from engines.text import SEAM, held_back
from engines.types import TextDelta, Tool, ToolCall

OPEN: Final = "<tool_call>"
CLOSE: Final = "</tool_call>"


def offered(tools: Sequence[Tool]) -> list[dict[str, Any]] | None:
    """Write tools as OpenAI's protocol and templates have them; None for no tools at all."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ] or None


def known_by(source: str) -> bool:
    """Tell whether a template offers tools and asks for calls in this form."""
    return "tools" in source and OPEN in source


class CallReader:
    """Takes the text of an answer, gives text and calls; holds back what may be a call.

    called: how many calls there were. What stands between the markers and is none stays text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._begun = StringIO()
        self._end = ""
        self._after = False
        self.called = 0

    @property
    def held(self) -> int:
        """How many characters have come of a call that has not ended."""
        return self._begun.tell()

    def feed(self, text: str) -> list[TextDelta | ToolCall]:
        if self.held:
            # Long calls come in thousands of pieces: only where two meet is new to look at.
            self._begun.write(text)
            met = self._end + text
            self._end = met[1 - len(CLOSE) :]
            if CLOSE not in met:
                return []
            text = self._taken()
        self._held += text
        found: list[TextDelta | ToolCall] = []
        while self._step(found):
            pass
        return found

    def finish(self) -> list[TextDelta | ToolCall]:
        """Return what was held back, now that nothing follows; a call may lack its last marker."""
        found: list[TextDelta | ToolCall] = []
        held, self._held = self._taken() + self._held, ""
        inside = held.partition(OPEN)[2]
        call = self._call(inside) if held.startswith(OPEN) else None
        if call is None:
            self._add(found, held)
        else:
            found.append(call)
        return found

    def _step(self, found: list[TextDelta | ToolCall]) -> bool:
        before, opened, rest = self._held.partition(OPEN)
        if not opened:
            keep = held_back(self._held, (OPEN,))
            shown = len(self._held) - keep
            self._add(found, self._held[:shown])
            self._held = self._held[shown:]
            return False
        self._add(found, before)
        inside, closed, after = rest.partition(CLOSE)
        if not closed:
            self._begun.write(OPEN + rest)
            self._end = rest[1 - len(CLOSE) :]
            self._held = ""
            return False
        call = self._call(inside)
        if call is None:
            self._add(found, OPEN + inside + CLOSE)
        else:
            found.append(call)
        self._held = after
        return True

    def _taken(self) -> str:
        """Take out what has come of a call so far."""
        begun, self._begun = self._begun.getvalue(), StringIO()
        return begun

    def _call(self, text: str) -> ToolCall | None:
        try:
            value = json.loads(text.replace(SEAM, ""))
        except (ValueError, RecursionError):
            return None
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str) or not name:
            return None
        arguments = value.get("arguments", value.get("parameters", {}))
        told = (
            arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        )
        self.called += 1
        self._after = True
        return ToolCall(name, told, f"call_{self.called}")

    def _add(self, found: list[TextDelta | ToolCall], text: str) -> None:
        """Add text, without the empty lines between calls, which are no part of an answer."""
        if self._after:
            text = text.lstrip()
            self._after = not text
        if text:
            found.append(TextDelta(text))
