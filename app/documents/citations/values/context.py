"""The words around a quote that can name its place: its sentence, table row or heading."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from app.documents.citations.values.numbering import LABEL
from app.documents.citations.values.places import (
    IS_NUMBER_OF,
    Known,
    Mention,
    mentions,
    other_words,
)
from app.documents.citations.values.quotes import Quote

_NAMED_WITHIN: Final = 160
"""Characters before and after a quote in which its place can be named."""
_FAR: Final = 400
_MOST_BLOCKS: Final = 12
"""Maximum number of paragraphs between a quote and a heading or introduction above it."""
_HEADING_WORDS: Final = 14
_LONGEST_ROW: Final = 2000
_MOST_CELLS: Final = 12
_REMEMBERED: Final = 1000

_SENTENCE_END: Final = re.compile(
    r"(?:(?:(?<=\w{5})|(?<!\w))\.|[!?…])[\"”“’»«)\]]*\s+(?=[\"“„»«(\[]*[A-ZÄÖÜ])|[。\uff01\uff1f]|\n"
)
"""The end of a sentence.

A short word before a full stop is usually an abbreviation, as in “see p. A4”.
"""
_ENDS_SENTENCE: Final = re.compile(r"[.!?。\uff01\uff1f]\W*\Z")
_LIST_MARKS: Final = " \t\n-*\u2022>"
_OPENING: Final = re.compile('[“„«「『\u2039"]')
_BRACKETS: Final = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_INTRODUCES_TITLE: Final = re.compile(
    r"\b(?:under|below|beneath|unter|heading|headline|section|chapter|überschrift|rubrik|"
    r"abschnitt|kapitel)\s*[:,]?\s*(?:the|der|dem)?\s*\Z",
    re.IGNORECASE,
)
_MOST_TITLE_WORDS: Final = 8
_TITLE_FOLLOWS: Final = re.compile(
    r"[\s-]*(?:section|heading|chapter|clause|part|sheet|slide|abschnitt|kapitel)\b", re.IGNORECASE
)
_IN: Final = re.compile(
    rf"(?:\b(?:in|from|see|aus|im|siehe|under|below|unter|heading|headline|überschrift)|{LABEL})"
    r"\s*[:,]?\s*(?:the|der|dem)?\s*\Z",
    re.IGNORECASE,
)
_MOST_TITLE: Final = 80
_NAMES_SOURCE: Final = re.compile(
    r"(?:—|–|--|~|(?:this|that|it|these words|das|dies|es|see|siehe|source|quelle|fundstelle|place|"
    r"stelle|location|found)\b)",
    re.IGNORECASE,
)
_MOST_WORDS_OF_SOURCE: Final = 6
"""Maximum number of other words in a sentence after a quote that names its place."""
_PLACE_HEADER: Final = re.compile(
    rf"\W*(?P<label>{LABEL})\W*(?:(?i:no\.?|nr\.?|number|nummer)\W*)?"
)
_TITLE_HEADER: Final = re.compile(
    r"\W*(?:section|heading|chapter|sheet|abschnitt|überschrift|kapitel|blatt)\W*", re.IGNORECASE
)


class Surroundings:
    """The words around the quotes of an answer."""

    def __init__(self, answer: str, quotes: list[Quote], known: Known) -> None:
        """Prepare the search.

        Args:
            answer: The answer as displayed.
            quotes: All its quotes, in order.
            known: The headings and numbers of the documents.
        """
        self._answer = answer
        self._known = known
        self._mentions = lru_cache(_REMEMBERED)(lambda text: mentions(text, known))
        borders = [quote for quote in quotes if not self._is_title(quote)]
        self._begins = [border.end for border in borders]
        self._ends = [border.start for border in borders]

    def text_around(self, quote: Quote) -> tuple[str, str]:
        """Return the words before and after a quote that belong to its sentence."""
        answer = self._answer
        begin = self._begin(quote)
        at = bisect.bisect_left(self._ends, quote.end)
        end = self._ends[at] if at < len(self._ends) else len(answer)
        before = answer[max(begin, quote.start - _NAMED_WITHIN) : quote.start]
        if begin and quote.start - begin <= _NAMED_WITHIN and (own := _BRACKETS.match(before)):
            before = before[own.end() :]  # these brackets belong to the previous quote
        after = answer[quote.end : min(quote.end + _NAMED_WITHIN, end)]
        return _same_sentence_before(before), _same_sentence_after(
            after, is_block=quote.is_block, is_last=end == len(answer)
        )

    def places_of(self, quote: Quote) -> list[Mention]:
        """Return the places that an answer names for a quote.

        Places that directly follow the quote count first, then those before it. If its sentence
        names none, the table row counts, then the previous sentence, then the heading above.
        """
        before, after = self.text_around(quote)
        if row := self._row(quote):
            cell_before, cell_after = before.rpartition("\t")[2], after.partition("\t")[0]
            own = self._in_sentence(cell_before, cell_after)
            return own or row
        return (
            self._in_sentence(before, after)
            or [
                replace(mention, is_certain=False)
                for mention in self._sentence_before(quote, before)
            ]
            or self._above(quote)
        )

    def _begin(self, quote: Quote) -> int:
        """Return where the previous quote ends."""
        at = bisect.bisect_right(self._begins, quote.start) - 1
        return self._begins[at] if at >= 0 else 0

    def _in_sentence(self, before: str, after: str) -> list[Mention]:
        ahead, following = self._mentions(before), self._mentions(after)
        if not following:
            return ahead
        if not ahead:
            return following
        lead = after[: following[0].start]
        is_close = other_words(lead) <= 1 and not re.search(r"\b(?:and|und|or|oder)\b|\n", lead)
        if not is_close:
            return ahead
        labels = {mention.label for mention in following}
        return [*(mention for mention in ahead if mention.label not in labels), *following]

    def _sentence_before(self, quote: Quote, before: str) -> list[Mention]:
        """Return the last place named earlier in the paragraph, back to the previous quote."""
        answer = self._answer
        quoted = self._begin(quote)
        paragraph = answer.rfind("\n\n", 0, quote.start) + 1
        begin = max(paragraph, quoted, quote.start - _FAR)
        text = answer[begin : quote.start - len(before)]
        if begin == quoted and (own := _BRACKETS.match(text)):
            text = text[own.end() :]
        found = self._mentions(text)
        return found[-1:]

    def _above(self, quote: Quote) -> list[Mention]:
        """Return the places in the heading above a quote, or in the line that introduces it."""
        end = self._answer.rfind("\n\n", 0, quote.start)
        own = self._answer[end + 2 if end >= 0 else 0 : quote.start]
        for block in self._blocks_above(end):
            introduces = block.rstrip().endswith(":")
            is_heading = (
                len(block.split()) <= _HEADING_WORDS
                and not _ENDS_SENTENCE.search(block)
                and not _OPENING.search(block)
            )
            if not (introduces or is_heading):
                if len(own.strip(_LIST_MARKS)) > _MOST_TITLE:
                    return []
                continue
            if found := self._mentions(block):
                return [
                    mention if _is_labelled(mention) else replace(mention, is_certain=False)
                    for mention in found
                ]
            if is_heading and not introduces:
                return []
        return []

    def _blocks_above(self, end: int) -> Iterator[str]:
        for _ in range(_MOST_BLOCKS):
            if end < 0:
                return
            start = self._answer.rfind("\n\n", 0, end)
            yield self._answer[max(start + 2 if start >= 0 else 0, end - _FAR) : end]
            end = start

    def _row(self, quote: Quote) -> list[Mention]:
        """Return the places in the quote's table row and in its column's header."""
        answer = self._answer
        start = answer.rfind("\n", max(0, quote.start - _LONGEST_ROW), quote.start) + 1
        start = max(start, quote.start - _LONGEST_ROW)
        end = answer.find("\n", quote.end, quote.end + _LONGEST_ROW)
        line = answer[start : end if end >= 0 else quote.end + _LONGEST_ROW]
        if "\t" not in line:
            return []
        top = answer.rfind("\n\n", 0, start)
        top = top + 2 if top >= 0 else 0
        headings = answer[top : answer.find("\n", top)].split("\t") if top < start else []
        cells = line.split("\t", _MOST_CELLS)
        own = line[: quote.start - start].count("\t")
        found: list[Mention] = []
        for at, cell in enumerate(cells[:_MOST_CELLS]):
            heading = headings[at] if at < len(headings) else ""
            if at == own:
                found += self._mentions(heading)
            else:
                found += self._in_cell(heading, cell)
        return found

    def _in_cell(self, heading: str, cell: str) -> list[Mention]:
        if found := self._mentions(cell):
            return found
        label = _PLACE_HEADER.fullmatch(heading)
        if IS_NUMBER_OF.match(heading.strip()):
            return []  # the answer only numbers its own rows
        if label and (found := self._mentions(f"{label['label']} {cell.strip()}")):
            return found
        if _TITLE_HEADER.fullmatch(heading) and len(cell.strip()) > 1:
            return self._mentions(f"section “{cell.strip()}”")
        if self._known.title(cell.strip()) and not cell.strip().isdigit():
            return self._mentions(f"section “{cell.strip()}”")
        return []

    def _is_title(self, quote: Quote) -> bool:
        """Return whether a quote is a heading that names a place."""
        if len(quote.words) > _MOST_TITLE or quote.is_block:
            return False
        before = self._answer[max(0, quote.start - 40) : quote.start]
        if self._known.title(quote.words):
            return bool(_IN.search(before) or _TITLE_FOLLOWS.match(self._answer, quote.end))
        is_short = len(quote.words.split()) <= _MOST_TITLE_WORDS
        return is_short and bool(
            _INTRODUCES_TITLE.search(before) or _TITLE_FOLLOWS.match(self._answer, quote.end)
        )


def _is_labelled(mention: Mention) -> bool:
    return mention.label not in {"vague", "title"}


def _same_sentence_before(text: str) -> str:
    """Return the part of the text before a quote that belongs to its sentence or introduces it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    rest = text[ends[-1] :] if ends else text
    if rest.strip(_LIST_MARKS):
        return rest
    line = text.rstrip(_LIST_MARKS).rpartition("\n")[2]
    return line if line.endswith(":") or not other_words(line) else rest


def _same_sentence_after(text: str, *, is_block: bool = False, is_last: bool = False) -> str:
    """Return the part of the text after a quote that belongs to its sentence or names its place.

    Args:
        is_block: The quote is a block quote.
        is_last: No other quote follows.
    """
    end = _SENTENCE_END.search(text)
    if end is None:
        return text
    rest = text[end.end() :].lstrip(_LIST_MARKS)
    next_end = _SENTENCE_END.search(rest)
    following = rest[: next_end.start() + 1] if next_end else rest
    is_place = following.rstrip().endswith((".", ")", "]")) and other_words(following) <= 2
    if is_block or is_last:
        is_place = is_place or other_words(following) <= 1
    if _NAMES_SOURCE.match(rest):
        is_place = is_place or other_words(following) <= _MOST_WORDS_OF_SOURCE
    return text if is_place or rest.startswith(("(", "[")) else text[: end.start() + 1]
