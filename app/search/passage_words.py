"""The words by which passages of documents are found, and a question's words to find them.

A passage is found by some of a question's words, the rarest first; in contrast, `words.py` parses a
query whose words must all be found. Both cut scripts without spaces into the same pairs of letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Final

from app.search.common import COMMON
from app.search.folding import UNSPACED, fold, fold_each
from app.search.words import SIGNS, in_pairs

_HANGUL: Final = "\uac00-\ud7a3"
"""Korean has spaces, but its words end in particles, so they are cut into pairs as well."""

_HAN: Final = re.compile(
    "[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_ALPHABETIC: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Burmese and Khmer: they have few letters, so a pair alone says little."""

_PAIRED: Final = f"{UNSPACED}{_HANGUL}"
_PAIRS: Final = re.compile(rf"[{_PAIRED}]+")
_WORD: Final = re.compile(rf"[^{SIGNS}]+")
_RUN: Final = re.compile(rf"(?P<pairs>[{_PAIRED}]+)|(?:_|[^{SIGNS}{_PAIRED}])+")
"""A pattern for the runs of a question; names with underscores stay whole."""

_BROKEN: Final = re.compile(rf"(?<=[{_PAIRED}])[ \t]*\r?\n[ \t]*(?=[{_PAIRED}])")
"""A pattern for a line end within a run: in these scripts a line can end anywhere in a word."""

_CODE: Final = re.compile(r"\b([A-Z]{1,2})([-\s]\d+)")
"""A pattern for a code that begins like a common word: A-4, DO-178."""

_PIECE: Final = re.compile(r"\d+|\D+")
_CLOSE: Final = re.compile(r"[-\s./_\u2010-\u2015]?")
"""A pattern for signs that can be inside a code or left out: QX-77, QX 77, QX77."""

_MOST_PIECES: Final = 4
_LONGEST: Final = 128
"""The longest word of a question, in characters, that is split into letters and numbers."""

_PART: Final = 4
"""The letters in a part of a run by which a quote is sought.

One of them says as much as this many letters of an alphabet.
"""


@dataclass(frozen=True)
class QuestionWord:
    """A word of a question.

    Attributes:
        forms: The ways to write it, each as words that follow each other.
        paired: Whether it is a pair of letters of a script without spaces, or one such letter.
        begins: Whether the form is the beginning of a word.
        names: Whether it looks like a code or a name.
        within: The pairs that contain a single letter; if one of them is found, the letter alone is
            not sought.
    """

    forms: tuple[tuple[str, ...], ...]
    paired: bool = False
    begins: bool = False
    names: bool = False
    within: tuple[str, ...] = ()

    @property
    def common(self) -> bool:
        """True if it says nothing about the subject of the question.

        A pair of Chinese letters that are both common words, such as 我的, says nothing either.
        """
        first = self.forms[0][0]
        if len(self.forms[0]) > 1:
            return False
        return first in COMMON or (
            self.paired and all(letter in COMMON and _HAN.match(letter) for letter in first)
        )


def words_in(text: str) -> list[str]:
    """Return all words of a passage in order; runs without spaces are cut into pairs."""
    folded = fold(_composed(_CODE.sub(_with_code, text)))
    if folded.isascii() or not _PAIRS.search(folded):
        return _WORD.findall(folded)
    folded = _PAIRS.sub(lambda run: f" {in_pairs(run[0])} ", _BROKEN.sub("", folded))
    return _WORD.findall(folded)


def content_words_in(text: str) -> list[str]:
    """Return the words of a passage that say something; the others would only fill an index."""
    return [word for word in words_in(text) if word not in COMMON]


def quoted_words(quote: str) -> list[str]:
    """Return the words that a passage with a quote contains, the rarest first.

    These are words, longest first, and parts of runs, written as pairs that follow each other.
    """
    folded = fold(_composed(quote))
    weights: dict[str, int] = {}
    for run in _RUN.finditer(_BROKEN.sub("", folded)):
        if run["pairs"]:
            for start in range(0, max(1, len(run[0]) - 1), _PART):
                part = run[0][start : start + _PART]
                pairs = in_pairs(part).split()[: max(1, len(part) - 1)]
                if pairs[0] not in COMMON:
                    weights[" ".join(pairs)] = _PART * len(part)
        else:
            weights |= {word: len(word) for word in _WORD.findall(run[0]) if word not in COMMON}
    return sorted(weights, key=lambda words: (-weights[words], words))


def question_words(question: str) -> list[QuestionWord]:
    """Return the words of a question, each once; common ones only if all are common."""
    words = list(dict.fromkeys(_question_words(_composed(question))))
    return [word for word in words if not word.common] or words


def _composed(text: str) -> str:
    """Return a text whose letters have the form in which they are compared.

    Half-width letters, and accents and syllables in parts, as in file names, are only other ways of
    writing.
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _with_code(match: re.Match[str]) -> str:
    """Append a code as one word if its beginning would be dropped as a common word."""
    letters, number = match[1], match[2][1:]
    return f"{match[0]} {letters}{number}" if letters.lower() in COMMON else match[0]


def _question_words(question: str) -> Iterator[QuestionWord]:
    folded, places = fold_each(question)
    runs = list(_RUN.finditer(folded))
    joined = _joined(folded, runs)
    for run in runs:
        if run["pairs"]:
            yield from _paired_words(run[0])
            continue
        word = run[0].strip("_")
        if word:
            written = question[places[run.start()] : places[run.end() - 1] + 1]
            forms = dict.fromkeys((*_forms(word), *joined.get(run.start(), ())))
            yield QuestionWord(tuple(forms), names=_is_name(written))


def _is_name(word: str) -> bool:
    """Return whether a word looks like a name: 4711, E42, MwSt, DISK_FULL, DiskFull; not Disk."""
    return (
        any(character.isdigit() or character == "_" for character in word)
        or word[1:] != word[1:].lower()
    )


def _forms(word: str) -> Iterator[tuple[str, ...]]:
    """Yield the ways to write a word: as it is, then with and without spaces before numbers."""
    parts = [part for part in word[:_LONGEST].split("_") if part]
    yield tuple(parts)
    if len(word) > _LONGEST:
        return  # data, such as base64, rather than a code
    pieces = [_PIECE.findall(part) for part in parts]
    borders = [len(piece) - 1 for piece in pieces]
    if not 0 < sum(borders) < _MOST_PIECES:
        if sum(borders):
            yield tuple(piece for part in pieces for piece in part)
        return
    for cuts in product((False, True), repeat=sum(borders)):
        cut = iter(cuts)
        form: list[str] = []
        for part in pieces:
            form.append(part[0])
            for piece in part[1:]:
                if next(cut):
                    form.append(piece)
                else:
                    form[-1] += piece
        yield tuple(form)


def _joined(folded: str, runs: list[re.Match[str]]) -> dict[int, list[tuple[str, ...]]]:
    """Return the codes that runs form with their neighbours, by where a run begins.

    Both parts of QX-77 or QX 77 can also be written QX77; together they say more than apart.
    """
    codes: dict[int, list[tuple[str, ...]]] = {}
    chain: list[re.Match[str]] = []
    for before, run in pairwise([None, *runs, None]):
        joins = before is not None and run is not None and _makes_a_code(folded, before, run)
        if not joins:
            chain = []
        if run is None or run["pairs"]:
            chain = []
            continue
        chain = [*chain, run][-_MOST_PIECES:]
        for first in range(len(chain) - 1):
            members = chain[first:]
            parts = tuple(member[0] for member in members)
            for member in members:
                codes.setdefault(member.start(), []).extend((("".join(parts),), parts))
    return codes


def _makes_a_code(folded: str, before: re.Match[str], run: re.Match[str]) -> bool:
    """Return whether two runs adjoin, with a letter on one side and a number on the other."""
    between = folded[before.end() : run.start()]
    kinds = {before[0][-1].isdigit(), run[0][0].isdigit()}
    return bool(_CLOSE.fullmatch(between)) and len(kinds) == 2


def _paired_words(run: str) -> Iterator[QuestionWord]:
    """Yield the pairs of a run, and its Chinese letters, each of which can be a word."""
    pairs = in_pairs(run).split()
    if len(pairs) == 1:
        yield QuestionWord((tuple(pairs),), paired=True, begins=True)
        return
    for pair, following in pairwise(pairs):
        forms: tuple[tuple[str, ...], ...] = ((pair,),)
        if _ALPHABETIC.match(pair) and len(following) == 2:
            forms = (*forms, (pair, following))
        yield QuestionWord(forms, paired=True)
    for place, letter in enumerate(run):
        if _HAN.match(letter):
            within = tuple(pair for pair in pairs[max(0, place - 1) : place + 1] if len(pair) == 2)
            yield QuestionWord(((letter,),), paired=True, begins=True, within=within)
