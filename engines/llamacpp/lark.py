"""Writes grammars as llguidance reads them, in its variant of Lark: pure.

A rule's name is in lower case and may refer to any rule. A terminal's name is in upper case; its
text is matched as a whole, by one regular expression. Of several texts that a terminal matches,
the longest counts, so a terminal has to be told by the character that follows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

START: Final = "start"

# The mask says which tokens the grammar allows, and never which of them a tokeniser would take.
_HEAD: Final = f"%llguidance {json.dumps({'no_forcing': True})}"

_SPACE: Final = r" |\n[ \t]{0,40}"
"""What may stand between the parts of JSON; more, and a weak model writes nothing but blanks."""

_ESCAPED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}


class Lark:
    """The rules of one grammar, in the order in which they were added."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._lazy: set[str] = set()

    def add(self, name: str, body: str) -> str:
        """Add a rule or give one a body. Returns its name."""
        self._rules[name] = body
        return name

    def new(self, body: str) -> str:
        """Return the name of the rule with this body, which is added if there is none."""
        return self._named("r", body)

    def terminal(self, body: str) -> str:
        """Return the name of the terminal with this body, which is added if there is none."""
        return self._named("T", body)

    def reserve(self) -> str:
        """Return the name of a new rule; its body follows by `add`."""
        return self.add(f"r{len(self._rules)}", "")

    def json(self, schema: Mapping[str, Any]) -> str:
        """Return the name of a rule for JSON by a schema, as `json_schema` prepares it."""
        options = {"whitespace_pattern": _SPACE, "json_allow_general_unicode_escapes": True}
        return self.new(f"%json {json.dumps({'x-guidance': options, **schema})}")

    def until(self, end: str) -> str:
        """Return the name of a rule for any text up to the first `end`, with it."""
        name = self.new(self.terminal(f"/(?s:.*)/ {literal(end)}"))
        self._lazy.add(name)
        return name

    def text(self, start: str) -> str:
        """Return the grammar, with the rule of this name as its beginning."""
        rules = [
            f"{name}{'[lazy]' if name in self._lazy else ''}: {body}"
            for name, body in self._rules.items()
        ]
        return "\n".join([_HEAD, f"{START}: {start}", *rules]) + "\n"

    def _named(self, kind: str, body: str) -> str:
        key = f"{kind} {body}"
        if key not in self._names:
            self._names[key] = self.add(f"{kind}{len(self._rules)}", body)
        return self._names[key]


def literal(text: str) -> str:
    """Write a text as it is."""
    return '"' + "".join(map(_shown, text)) + '"'


def _shown(char: str) -> str:
    if char in _ESCAPED:
        return _ESCAPED[char]
    return char if char.isprintable() or ord(char) > 0xFFFF else f"\\u{ord(char):04x}"
