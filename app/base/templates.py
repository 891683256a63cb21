"""The recognition of the template that a sentence was made from, and of its values.

Engines and services write English sentences with values in them. To show them in another language,
the caller has the list of their templates, with {0}, {1} in place of the values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

_PLACE = re.compile(r"\{(\d)\}")


class Templates:
    """A finder of the template, with values in it, that a sentence was made from."""

    def __init__(self, templates: Iterable[str]) -> None:
        self._templates = [text for text in templates if _PLACE.search(text)]

    def match(self, sentence: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the matching template with the most words of its own, and its values in order."""
        for template, pattern, places in self._patterns:
            found = pattern.fullmatch(sentence)
            if found:
                values = dict(zip(places, found.groups(), strict=True))
                return template, tuple(values.get(at, "") for at in range(max(places) + 1))
        return None

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern[str], list[int]]]:
        ordered = sorted(self._templates, key=lambda text: -len(_PLACE.sub("", text)))
        return [(text, *_pattern(text)) for text in ordered]


def _pattern(template: str) -> tuple[re.Pattern[str], list[int]]:
    """Return a pattern for the texts made from a template, and the value number of each group."""
    parts = _PLACE.split(template)
    places = [int(part) for part in parts[1::2]]
    if len(set(places)) < len(places):
        raise ValueError(f"a value stands twice in “{template}”")
    literals = [re.escape(part) for part in parts[::2]]
    return re.compile("(.*?)".join(literals), re.DOTALL), places
