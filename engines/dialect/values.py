"""The conversion of call arguments that a model did not write as JSON into JSON; pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from engines.types import Tool

_MOST_DEPTH: Final = 100
_MOST_STEPS: Final = 10
"""The longest chain of references in a schema."""

_PYTHON: Final = {"true": True, "false": False, "null": None, "none": None}


def is_text(tool: Tool | None, argument: str) -> bool | None:
    """Return whether a tool's argument is text by its schema; None if that is open or unknown."""
    if tool is None:
        return None
    whole = tool.parameters
    properties = whole.get("properties")
    schema = properties.get(argument) if isinstance(properties, Mapping) else None
    kinds = _kinds(schema, whole, _MOST_STEPS)
    if not kinds:
        return None
    if kinds == {"string"}:
        return True
    return None if "string" in kinds else False


def _kinds(schema: object, whole: Mapping[str, Any], steps: int) -> set[str]:
    """Return the types that a schema allows; none if it does not say."""
    if not isinstance(schema, Mapping) or steps < 0:
        return set()
    reference = schema.get("$ref")
    if isinstance(reference, str):
        found: object = whole
        for part in reference.removeprefix("#/").split("/"):
            found = found.get(part) if isinstance(found, Mapping) else None
        return _kinds(found, whole, steps - 1)
    kind = schema.get("type")
    if kind is not None:
        return {str(name) for name in (kind if isinstance(kind, list) else [kind])}
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        return {"string" if isinstance(value, str) else "other" for value in values}
    choices = schema.get("anyOf", schema.get("oneOf"))
    choices = choices if isinstance(choices, list) else []
    return {kind for choice in choices for kind in _kinds(choice, whole, steps - 1)}


def json_of(value: str, *, text: bool | None) -> str:
    """Return the JSON of an argument that stands between markers.

    Args:
        text: Whether it is text. If None, it is unknown: a value that parses as JSON is JSON.
    """
    stripped = value.strip()
    if text is not True:
        try:
            known: object = json.loads(stripped)
        except (ValueError, RecursionError):
            word = stripped.lower()
            known = _PYTHON[word] if text is False and word in _PYTHON else value
        if text is False or not isinstance(known, str):
            return dumped(known)
    return dumped(value)


def of_python(arguments: str, tool: Tool | None) -> str | None:
    """Return the JSON of the arguments of a Python call; None if they cannot be parsed.

    Arguments without a name are the tool's first ones.
    """
    try:
        call = ast.parse(f"f({arguments.strip()})", mode="eval").body
        if not isinstance(call, ast.Call):
            return None
        properties = tool.parameters.get("properties") if tool else None
        names = list(properties) if isinstance(properties, Mapping) else []
        values = {name: _literal(node) for name, node in zip(names, call.args, strict=False)}
        if len(values) < len(call.args):
            return None
        values |= {node.arg: _literal(node.value) for node in call.keywords if node.arg is not None}
        return dumped(values)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def _literal(node: ast.expr) -> object:
    """Return the value of a Python literal; true, false and null count too. Raises ValueError."""
    match node:
        case ast.Name(id=name) if name.lower() in _PYTHON:
            return _PYTHON[name.lower()]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {str(_literal(key)): _literal(item) for key, item in pairs if key is not None}
        case _:
            value: object = ast.literal_eval(node)
            return value


def of_braces(text: str, quote: str) -> dict[str, Any] | None:
    """Parse arguments in Gemma's form, {days:3,town:<|"|>Köln<|"|>}; None if they are malformed."""
    try:
        reader = _Braces(text, quote)
        value = reader.value(0)
        return value if isinstance(value, dict) and not reader.rest() else None
    except (ValueError, IndexError):
        return None


class _Braces:
    """A parser of values in braces. Raises ValueError and IndexError."""

    def __init__(self, text: str, quote: str) -> None:
        self._text = text
        self._quote = quote
        self._at = 0

    def rest(self) -> str:
        return self._text[self._at :].strip()

    def value(self, depth: int) -> object:
        if depth > _MOST_DEPTH:
            raise ValueError("nested too deep")
        self._blank()
        if self._text.startswith(self._quote, self._at):
            return self._quoted()
        mark = self._text[self._at]
        if mark == "{":
            values: dict[str, object] = {}
            for _ in self._items("}"):
                key = self._key()
                values[key] = self.value(depth + 1)
            return values
        if mark == "[":
            return [self.value(depth + 1) for _ in self._items("]")]
        if mark == '"':
            value, end = json.JSONDecoder().raw_decode(self._text, self._at)
            self._at = end
            return value
        found = re.compile(r"[^,\]}]*").match(self._text, self._at)
        word = found[0].strip() if found else ""
        self._at += len(found[0]) if found else 0
        try:
            return json.loads(word)
        except ValueError:
            return word

    def _items(self, end: str) -> Any:
        """Step through the items in brackets, up to the closing bracket."""
        self._at += 1
        while True:
            self._blank()
            if self._text[self._at] == end:
                self._at += 1
                return
            yield
            self._blank()
            if self._text[self._at] == ",":
                self._at += 1
            elif self._text[self._at] != end:
                raise ValueError("a comma is missing")

    def _key(self) -> str:
        if self._text.startswith(self._quote, self._at):
            key = self._quoted()
        elif self._text[self._at] == '"':
            key, self._at = json.JSONDecoder().raw_decode(self._text, self._at)
        else:
            end = self._text.index(":", self._at)
            key, self._at = self._text[self._at : end].strip(), end
        self._blank()
        if self._text[self._at] != ":":
            raise ValueError("a colon is missing")
        self._at += 1
        return key

    def _quoted(self) -> str:
        begin = self._at + len(self._quote)
        end = self._text.index(self._quote, begin)
        self._at = end + len(self._quote)
        return self._text[begin:end]

    def _blank(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1


def dumped(value: object) -> str:
    """Return JSON; unpaired surrogates, which a model can spell, become U+FFFD."""
    return whole(json.dumps(value, ensure_ascii=False))


def whole(text: str) -> str:
    """Return the text with its surrogates paired, or replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
