"""Tells which known text a sentence was made from, and what was put into it.

Engines and services write sentences of their own, in English and with values in them. Whoever shows
them in another language has the list of their templates, with {0}, {1} where the values stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

_PLACE = re.compile(r"\{(\d)\}")


class Templates:
    """Finds the template with values in it that a text was made from; other texts are their own."""

    def __init__(self, templates: Iterable[str]) -> None:
        self._templates = [text for text in templates if _PLACE.search(text)]

    def match(self, sentence: str) -> tuple[str, tuple[str, ...]] | None:
        """Find the template with the most words of its own that fits, and its values in order."""
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
    """Return a pattern for the texts that a template makes, and the numbers of its groups."""
    parts = _PLACE.split(template)
    places = [int(part) for part in parts[1::2]]
    if len(set(places)) < len(places):
        raise ValueError(f"a value stands twice in “{template}”")
    literals = [re.escape(part) for part in parts[::2]]
    return re.compile("(.*?)".join(literals), re.DOTALL), places
