"""Writes grammars in llguidance's variant of Lark. Pure.

A rule's name is in lower case, and the rule can refer to any rule. A terminal's name is in upper
case; its text is matched as a whole by one regular expression. If a terminal matches several texts,
the longest one counts, so the character after a terminal must tell where it ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

START: Final = "start"

# The mask shows which tokens the grammar allows, never which of them a tokeniser would choose.
_HEAD: Final = f"%llguidance {json.dumps({'no_forcing': True})}"

_SPACE: Final = r" |\n[ \t]{0,40}"
"""The blanks allowed between the parts of JSON; with more, weak models write nothing but blanks."""

_ESCAPED: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}


class Lark:
    """The rules of one grammar, in the order in which they were added."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._lazy: set[str] = set()

    def add(self, name: str, body: str) -> str:
        """Add a rule, or set the body of an existing one, and return its name."""
        self._rules[name] = body
        return name

    def new(self, body: str) -> str:
        """Return the name of the rule with this body; add the rule if there is none."""
        return self._named("r", body)

    def terminal(self, body: str) -> str:
        """Return the name of the terminal with this body; add the terminal if there is none."""
        return self._named("T", body)

    def reserve(self) -> str:
        """Return the name of a new rule, whose body is set later with `add`."""
        return self.add(f"r{len(self._rules)}", "")

    def json(self, schema: Mapping[str, Any]) -> str:
        """Return the name of a rule for JSON that follows a schema prepared by `json_schema`."""
        options = {"whitespace_pattern": _SPACE, "json_allow_general_unicode_escapes": True}
        return self.new(f"%json {json.dumps({'x-guidance': options, **schema})}")

    def until(self, end: str) -> str:
        """Return the name of a rule for any text up to and including the first `end`."""
        name = self.new(self.terminal(f"/(?s:.*)/ {literal(end)}"))
        self._lazy.add(name)
        return name

    def text(self, start: str) -> str:
        """Return the whole grammar, with the named rule as its start."""
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
    """Return the literal that matches exactly this text."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _ESCAPED:
        return _ESCAPED[char]
    return char if char.isprintable() or ord(char) > 0xFFFF else f"\\u{ord(char):04x}"
