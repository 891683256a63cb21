"""Sentences for the user, marked where they are written and translated where they are shown.

`N_` is gettext's usual mark for a text that is translated later. The result is an English `str`
that remembers its template and its values, so that the window and the terminal can look the
template up in a catalogue. A text of the user's is never marked, so it is never translated, even
if the catalogue has the same words. See `app/base/language.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Self, TypeVar, cast

T = TypeVar("T")

_TEMPLATE: Final = "sentence"
_BEGIN: Final = f'{{"{_TEMPLATE}": '
"""The beginning of a packed sentence; no text that Hearth stores begins so."""


class Sentence(str):
    """A text that was made from a template and named values.

    Attributes:
        template: The text with `{name}` in place of each value; the key in the catalogue. Without
            values, braces in it mean nothing.
        values: The values by name; each is a `str`, and can be a `Sentence` itself.
    """

    __slots__ = ("template", "values")

    template: str
    values: Mapping[str, str]

    def __new__(cls, template: str, values: Mapping[str, object]) -> Self:
        """Fill the values into the template.

        Raises:
            KeyError: The template names a value that is not given.
        """
        texts = {name: _text_of(value) for name, value in values.items()}
        self = super().__new__(cls, template.format_map(texts) if texts else template)
        self.template = template
        self.values = texts
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str, Mapping[str, str]]]:
        return type(self), (self.template, self.values)

    def with_values(self, change: Callable[[str], str]) -> Sentence:
        """Return this sentence with each value changed by a function."""
        return Sentence(self.template, {name: change(value) for name, value in self.values.items()})


def _text_of(value: object) -> str:
    """Return a value as text; the message of an exception stays marked if it is."""
    if isinstance(value, Exception) and len(value.args) == 1:
        [message] = value.args
        if isinstance(message, Sentence):
            return message
    return value if isinstance(value, str) else str(value)


def N_(template: str, /, **values: object) -> str:
    """Mark a text for translation and fill in its values.

    Args:
        template: English, with `{name}` in place of each value. Without values, braces in it mean
            nothing.
        values: The values by name. Only marked ones and numbers are translated.
    """
    return Sentence(template, values)


def listed(parts: Iterable[str], *, either: bool = False) -> str:
    """Join texts with "and" between them; each part is still translated on its own.

    Args:
        either: Put "or" between them.
    """
    first, *rest = list(parts) or [""]
    for it in rest:
        if either:
            first = N_("{first} or {next}", first=first, next=it)
        else:
            first = N_("{first} and {next}", first=first, next=it)
    return first


def joined(separator: str, parts: Iterable[str]) -> str:
    """Join texts; each part is still translated on its own."""
    texts = [part for part in parts if part]
    if len(texts) < 2:
        return texts[0] if texts else ""
    names = [f"part{number}" for number in range(len(texts))]
    template = separator.join(f"{{{name}}}" for name in names)
    return Sentence(template, dict(zip(names, texts, strict=True)))


def packed(value: T) -> T:
    """Prepare a JSON value for a file, a database or another process; `unpacked` reads it.

    A `Sentence` becomes a text that holds its template and values; the rest stays as it is.
    """
    return cast("T", _mapped(value, _pack))


def unpacked(value: T) -> T:
    """Return the JSON value that was given to `packed`."""
    return cast("T", _mapped(value, _unpack))


def _mapped(value: object, change: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _mapped(item, change) for name, item in value.items()}
    if isinstance(value, list):
        return [_mapped(item, change) for item in value]
    if type(value) is tuple:
        return tuple(_mapped(item, change) for item in value)
    return value


def _pack(text: str) -> str:
    if isinstance(text, Sentence):
        values = {name: _pack(value) for name, value in text.values.items()}
        return json.dumps({_TEMPLATE: text.template, "values": values}, ensure_ascii=False)
    if text.startswith(_BEGIN):  # so that a text from elsewhere never becomes a template
        return json.dumps({_TEMPLATE: None, "text": text}, ensure_ascii=False)
    return text


def _unpack(text: str) -> str:
    if not text.startswith(_BEGIN):
        return text
    try:
        data = json.loads(text)
        if data[_TEMPLATE] is None:
            return str(data["text"])
        values = {name: _unpack(value) for name, value in data["values"].items()}
        return Sentence(data[_TEMPLATE], values)
    except (ValueError, LookupError, TypeError, AttributeError):
        return text  # not written by `packed`
