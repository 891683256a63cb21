"""Cuts out the part of a text that contains the words of a search, for a list."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.search.folding import fold_each
from app.search.words import Term

_BEFORE = 40
_LENGTH = 160
_EXAMINED = 200_000
"""How many characters of a text are searched for the part to cut out."""

_SIGNS = re.compile(r"(?<![\w*])\*{1,3}(?=\w)|(?<=[\w.,:;!?)])\*{1,3}(?![\w*])|(?<!\S)#{1,6} |`+")
"""Markdown signs that would be in the way: of emphasis, headings and code."""

Marks = tuple[tuple[int, int], ...]


def snippet(text: str, terms: tuple[Term, ...]) -> tuple[str, Marks]:
    """Cut about 160 characters around the first term, on one line, with the terms' positions."""
    text = text[:_EXAMINED]
    first = min((start for start, _ in marks_in(text, terms)), default=0)
    start = max(0, first - _BEFORE)
    if start:
        # Begin at a word, if one begins soon after.
        start = next((m.end() for m in re.finditer(r"\s", text[:first]) if m.end() >= start), start)
    cut = _SIGNS.sub("", " ".join(text[start : start + 2 * _LENGTH].split()))
    ends = len(cut) <= _LENGTH and start + 2 * _LENGTH >= len(text)
    shown_text = f"{'…' if start else ''}{cut if ends else cut[:_LENGTH].rstrip() + '…'}"
    return shown_text, marks_in(shown_text, terms)


def marks_in(text: str, terms: tuple[Term, ...]) -> Marks:
    """Return where the terms are in a text, in characters; sorted, without overlaps."""
    folded, places = fold_each(text)
    places.append(len(text))
    found = sorted(span for term in terms for span in _spans(folded, term))
    marks: list[tuple[int, int]] = []
    for first, last in found:
        # Characters that folding removes after a letter, such as its accent, are marked with it.
        start, end = places[first], max(places[last - 1] + 1, places[last])
        if marks and start <= marks[-1][1]:
            marks[-1] = (marks[-1][0], max(end, marks[-1][1]))
        else:
            marks.append((start, end))
    return tuple(marks)


def _spans(folded: str, term: Term) -> Iterator[tuple[int, int]]:
    """Yield the positions of a term: as whole words or their beginnings, else inside names."""
    if term.unspaced:
        pattern = re.escape(_joined(term.words))
        yield from (match.span() for match in re.finditer(pattern, folded))
        return
    words = [re.escape(word) for word in term.words]
    end = "" if term.open else r"(?![^\W_])"
    strict = r"(?<![^\W_])" + r"[\W_]+".join(words) + end
    spans = [match.span() for match in re.finditer(strict, folded)]
    if not spans:
        loose = r"[\W_]*".join("_?".join(map(re.escape, word)) for word in term.words)
        spans = [match.span() for match in re.finditer(loose, folded)]
    yield from spans


def _joined(pairs: tuple[str, ...]) -> str:
    """Return the run of characters that was cut into pairs."""
    return pairs[0] + "".join(pair[-1] for pair in pairs[1:])
