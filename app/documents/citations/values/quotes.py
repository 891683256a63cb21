"""Finds the quotes in an answer as displayed: between quotation marks, and in block quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.documents.citations.values.normal import QUOTED_LINE
from app.documents.citations.values.places import other_words
from app.search.folding import UNSPACED

_LONGEST: Final = 5000
_INNER: Final = "(?:[^“”„]|“[^“”„]*”|„[^“”„]*[“”])"
"""The content of a quote: words, and inner quotes with marks of their own."""
_NO_LETTER_BEFORE: Final = rf"(?<![^\W{UNSPACED}])"
_NO_LETTER_AFTER: Final = rf"(?![^\W{UNSPACED}])"
_QUOTE: Final = re.compile(
    rf"“({_INNER}{{4,{_LONGEST}}})”|„({_INNER}{{4,{_LONGEST}}}?)[“”]"
    + "".join(
        rf"|{left}((?:[^{left}{right}]|{left}[^{left}{right}]*{right}){{4,{_LONGEST}}}){right}"
        for left, right in ("「」", "『』", "《》", "〈〉", "﹁﹂", "﹃﹄", "｢｣")
    )
    + rf"|«([^«»]{{4,{_LONGEST}}})»|»([^«»]{{4,{_LONGEST}}})«"
    rf"|\u2039([^\u2039\u203a]{{4,{_LONGEST}}})\u203a|\u203a([^\u2039\u203a]{{4,{_LONGEST}}})\u2039"
    rf'|{_NO_LETTER_BEFORE}"([^"\n\t]{{4,{_LONGEST}}})"{_NO_LETTER_AFTER}'
    rf"|{_NO_LETTER_BEFORE}(?P<single>['\u2018\u201a])(?=\S)(?!\d\ds|(?:tis|twas|em|n|til|cause)\b)"
)
_SINGLE_ENDS: Final = {
    "\u2018": re.compile(
        rf"(?<=\S)’{_NO_LETTER_AFTER}|(?P<no>{_NO_LETTER_BEFORE}\u2018(?=\S)|\n\n)"
    ),
    "\u201a": re.compile(rf"(?<=\S)[\u2018’]{_NO_LETTER_AFTER}|(?P<no>\u201a(?=\w)|\n\n)"),
    "'": re.compile(rf"(?<=\S)'{_NO_LETTER_AFTER}|(?P<no>{_NO_LETTER_BEFORE}'(?=\S)|\n)"),
}
"""Where a quote between single marks can end; the group `no` shows that it does not."""
_POSSESSIVE: Final = re.compile(r"[sxzSXZ][’'] [^\W\d_A-ZÄÖÜ]")
"""Looks like “the tenants’ deposit”, where the mark is an apostrophe."""

_WORDS: Final = re.compile(r"\w+(?:\W+\w+)+")
"""At least two words: a single word between quotation marks is usually a name."""
_UNSPACED_LETTER: Final = re.compile(f"[{UNSPACED}]")
_ALPHABETIC: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_LEAST_LETTERS: Final = 4
_LEAST_ALPHABETIC: Final = 6
"""Minimum letters of a quote in a script without spaces; an alphabet needs more than ideograms."""

_BLOCK: Final = re.compile(r"(?:\A|(?<=\n))[ ]{0,3}>(?:.*\S.*)(?:\n(?![ \t>]*(?:\n|\Z)).*)*")
"""A paragraph of a block quote; Markdown allows the mark on each of its lines."""
_BEGINS_WITH_MARK: Final = re.compile(r"[\s*_\-•]*[“„«»\"「『\u2039\u203a\u2018\u201a'《〈]")
_INNER_QUOTES: Final = re.compile(r"“[^“”]*”|„[^“”]*[“”]|\"[^\"\n]*\"|«[^«»]*»")
_DASH: Final = re.compile(r"\W*[—–~-]")
_WORD: Final = re.compile(r"\w+")
_MOST_OTHER_WORDS: Final = 2
_MOST_AROUND: Final = 6
"""Maximum words around inner quotes in a block quote that only introduces them."""
_SOURCE: Final = re.compile(
    r"(?:[ \t]{0,9}\n?[ \t]{0,9}[(\[][^()\[\]\n]{1,200}[)\]]\.?"
    r"|(?P<line>[ \t]{0,9}\n)[ \t]{0,9}(?:—|–|--?|~|Source:|Quelle:)[^\n]{1,200}"
    r"|[ \t]{1,9}(?:—|–|--)[ \t][^\n—–]{1,120})\s*\Z"
)
"""The source at the end of a block quote."""
_LABEL: Final = re.compile(r"[ \t]*([^\n:“”\"]{1,60}?(?::[ \t]+|\n))(?=\S)")
"""The beginning of a block quote that can name its place."""
_ADVICE: Final = re.compile(
    r"\W*(?:Note|Hint|Tip|Warning|Important|Caution|Summary|Hinweis|Achtung|Tipp|Wichtig|"
    r"Anmerkung|Zusammenfassung)\b\]?\s*(?:[:.!]|\n|$)",
    re.IGNORECASE,
)
"""The beginning of a block quote that is advice to the reader."""


@dataclass(frozen=True)
class Quote:
    """A quote in an answer.

    Attributes:
        start: Its first character in the answer, including the quotation mark.
        end: The character after its last, including the quotation mark.
        words: The words without marks.
        is_block: It is a paragraph of a block quote.
        is_doubtful: It only counts as a quote if its words are found.
    """

    start: int
    end: int
    words: str
    is_block: bool = False
    is_doubtful: bool = False


def quotes_in(answer: str) -> list[Quote]:
    """Return the quotes in an answer that are long enough to check, in order."""
    found: list[Quote] = []
    at = 0
    for block in _BLOCK.finditer(answer):
        words = _without_marks(block[0])
        if _is_introduction(words) or _is_source(words):
            continue
        found += _inline(answer, at, block.start())
        found.append(_block_quote(answer, *block.span()))
        at = block.end()
    found += _inline(answer, at, len(answer))
    return [
        quote for quote in found if is_long_enough(quote.words) and len(quote.words) <= _LONGEST
    ]


def readings(answer: str, quote: Quote) -> Iterator[Quote]:
    """Yield the possible readings of a quote.

    A block quote can name its place before or after its words.
    """
    yield quote
    if not quote.is_block:
        return
    words = answer[quote.start : quote.end]
    source, label = _SOURCE.search(words), _LABEL.match(words)
    is_source = source and (source["line"] or _names_place(source[0]))
    ends = [source.start(), len(words)] if source and is_source else [len(words)]
    starts = [0, label.end()] if label and _names_place(label[0]) else [0]
    for start in starts:
        for end in ends:
            shorter = _block_quote(answer, quote.start + start, quote.start + end)
            if shorter.start < shorter.end and is_long_enough(shorter.words):
                yield shorter


def is_long_enough(words: str) -> bool:
    """Return whether words can be a quote: two words, or enough letters without spaces."""
    if not _UNSPACED_LETTER.search(words):
        return bool(_WORDS.search(words))
    letters = sum(map(str.isalnum, words))
    return letters >= (_LEAST_ALPHABETIC if _ALPHABETIC.search(words) else _LEAST_LETTERS)


def _is_source(words: str) -> bool:
    """Return whether a paragraph of a block quote only names the source of the one before."""
    return _names_place(words) and (_DASH.match(words) is not None or other_words(words) <= 1)


def _names_place(words: str) -> bool:
    """Return whether words name a place or a file and say little else."""
    count = other_words(words)
    return count <= _MOST_OTHER_WORDS and count < len(_WORD.findall(words))


def _inline(answer: str, start: int, end: int) -> Iterator[Quote]:
    """Yield the quotes between quotation marks in a part of an answer."""
    at = start
    while found := _QUOTE.search(answer, at, end):
        at = found.end()
        if mark := found["single"]:
            close, is_doubtful = _single_end(answer, mark, found.end(), end)
            if not close:
                continue
            at = close
            words = answer[found.end() : at - 1]
            yield Quote(found.start(), at, words, is_doubtful=is_doubtful)
        else:
            yield Quote(*found.span(), answer[found.start() + 1 : at - 1])


def _single_end(answer: str, mark: str, start: int, end: int) -> tuple[int, bool]:
    """Return where a quote between single marks ends, and whether that is doubtful.

    The end is 0 if the mark is an apostrophe.
    """
    unsure: list[int] = []
    for found in _SINGLE_ENDS[mark].finditer(answer, start, min(end, start + _LONGEST)):
        if found["no"]:
            break
        if not _POSSESSIVE.match(answer, found.start() - 1):
            return found.end(), False
        unsure.append(found.end())
    return (unsure[-1] if unsure and mark != "'" else 0), len(unsure) > 1


def _is_introduction(words: str) -> bool:
    """Return whether a block quote contains quotes with marks of their own, and little else."""
    if _BEGINS_WITH_MARK.match(words):
        return True
    if not _INNER_QUOTES.search(words):
        return False
    return len(_WORD.findall(_INNER_QUOTES.sub(" ", words))) <= _MOST_AROUND


def _block_quote(answer: str, start: int, end: int) -> Quote:
    marks = QUOTED_LINE.match(answer, start, end)
    start = marks.end() if marks else start
    text = answer[start:end]
    start += len(text) - len(text.lstrip())
    words = _without_marks(text).strip()
    return Quote(
        start, start + len(text.strip()), words, True, is_doubtful=bool(_ADVICE.match(words))
    )


def _without_marks(text: str) -> str:
    return QUOTED_LINE.sub("", text)
