"""The places that an answer names next to a quote, and whether the quote is there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.documents.citations.values.numbering import (
    COUNTERS,
    HAN,
    LABEL,
    NUMBER,
    TO_NUMBER,
    Group,
    Number,
    label_of,
    number_of,
)
from app.documents.citations.values.outline import Answer, Numbering
from app.documents.values.documents import Document, LocationKind, TextSpan
from app.search.folding import UNSPACED

_BORDER: Final = rf"(?<![^\W_{UNSPACED}])"
_NO_AMOUNT: Final = (
    r"(?!\d|[.,]\d|\s*(?:[%‰°€$£¥]|(?i:euros?|eur|usd|chf|pounds?|dollars?|percent|prozent|days?|millions?|billions?|mio|mrd|millionen|"
    r"weeks?|months?|years?|hours?|minutes?|seconds?|times|per|tage?n?|wochen?|monaten?|jahren?|"
    r"stunden?|minuten?|uhr|kg|km|cm|mm|m²|gb|mb)\b))"
)
"""Rejects a number that is an amount and not a place."""
_WORDS: Final = {
    word: str(number)
    for number, words in enumerate(
        (
            ("one", "eins"), ("two", "zwei"), ("three", "drei"), ("four", "vier"),
            ("five", "fünf"), ("six", "sechs"), ("seven", "sieben"), ("eight", "acht"),
            ("nine", "neun"), ("ten", "zehn"), ("eleven", "elf"), ("twelve", "zwölf"),
        ),
        1,
    )
    for word in words
}  # fmt: skip
_SPELLED: Final = rf"(?i:{'|'.join(_WORDS)})\b"
_JOINT: Final = r"\s*(?:[-–—,;/&]|\b(?:to|bis|and|und|or|oder|through)\b)\s*"
_PLACE: Final = re.compile(
    rf"{_BORDER}(?P<label>{LABEL})(?:{TO_NUMBER}(?P<numbers>{NUMBER}{_NO_AMOUNT}"
    rf"(?:{_JOINT}(?:§\s*)?{NUMBER}{_NO_AMOUNT})*)|\s+(?P<spelled>{_SPELLED}))"
    rf"|第\s*(?P<han>[\d.{HAN}]{{1,8}})\s*(?P<counter>[{''.join(COUNTERS)}])"
    rf"|(?P<digits>\d{{1,4}})\s?(?P<unit>ページ|頁|页|条|項|号|章|節)"
)
_ONE_NUMBER: Final = re.compile(rf"({_JOINT})?(?:§\s*)?({NUMBER})")
_RANGE_SIGN: Final = re.compile(r"[-–—]|to|bis|through")
_MOST_PAGES: Final = 10_000
_MOST_CLAUSES: Final = 200

_NTH_WORDS: Final = (
    ("first", "erst"), ("second", "zweit"), ("third", "dritt"), ("fourth", "viert"),
    ("fifth", "fünft"), ("sixth", "sechst"), ("seventh", "siebt"), ("eighth", "acht"),
    ("ninth", "neunt"), ("tenth", "zehnt"),
)  # fmt: skip
_NTH: Final = re.compile(
    rf"{_BORDER}(?:(?P<digits>\d{{1,6}})(?:st|nd|rd|th|\.)|(?P<word>(?i:"
    + "|".join(rf"{one}|{other}e[nmrs]?" for one, other in _NTH_WORDS)
    + rf"|last|final|letzte[nmrs]?|opening|closing|concluding|introductory|"
    r"penultimate|vorletzte[nmrs]?|next|nächste[nmrs]?|previous|vorige[nmrs]?))\b)"
    rf"[-\s]+(?P<label>{LABEL})(?![^\W_])(?!\s*(?:no\.|nr\.)?\s*\d)"
)
_LAST: Final = -1
_DIVISION: Final = re.compile(
    r"(?:section|chapter|clause|article|part)s?|§|Abschnitt(?:s|en?)?|Kapitels?|Klausel|Artikels?|"
    r"Paragraf(?:en)?|Teil(?:s|en?)?",
    re.IGNORECASE,
)
_IS_TERM: Final = re.compile(
    r"term|condition|provision|covenant|stipulation|Bestimmung|Regelung|Bedingung|Vorschrift",
    re.IGNORECASE,
)
"""Labels such as “the first condition”, which an answer can count itself."""

_VAGUE: Final = re.compile(
    r"\b(?:(?:at|near|towards?)\s+the\s+(?:very\s+)?(?:end|beginning|start|top|bottom|foot|close)"
    r"|(?:in|from|near)\s+the\s+(?:middle|margin))\b"
    r"(?!\s+of\s+(?:the|each|every|a|this|that|any)?\s*(?:\w+\s+)?(?:month|year|week|day|quarter|"
    r"term|period|tenancy|season))"
    r"|\b(?:am|zum|zu|gegen|vom)\s+(?:Ende|Anfang|Beginn|Schluss|Rand|Fuß|Kopf)"
    r"(?=\s*[,:]|\s+(?:des|der|vom|von|steht|heißt|findet)\b)"
    r"(?!\s+(?:des|der|eines|jedes)\s+(?:\w+\s+)?(?:Monat|Jahr|Woche|Tag|Quartal|Miet))",
    re.IGNORECASE,
)
_IN: Final = (
    r"\b(?:in|from|under|see|per|aus|laut|siehe)\s+(?:(?:the|its|der|dem|den)\s+)?|"
    r"\b(?:im|zur|zum)\s+"
)
_PART_NAME: Final = re.compile(
    rf"(?:(?:{_IN}|\b(?:the|der|dem|die|das|its)\s+|[(\[]\s*|^\s*)"
    r"(?P<part>preamble|präambel|recitals|foreword|preface|vorwort|schlussbestimmungen|glossary|"
    r"glossar|appendix|annex|anhang|anlage|header|footer|kopfzeile|fußzeile|letterhead|briefkopf|"
    r"signature block|title page|titelseite|cover page|deckblatt|table of contents|"
    r"inhaltsverzeichnis|subject line|betreffzeile|footnotes?|fußnoten?|endnotes?|postscript|"
    r"impressum|前言|序文|附则|附則)"
    rf"|(?:{_IN}|[(\[]\s*)"
    r"(?P<word>introduction|einleitung|conclusions?|summary|zusammenfassung|abstract|subject|"
    r"betreff|schluss))(?![^\W_])(?!\s*(?:no\.|nr\.)?\s*\d)",
    re.IGNORECASE | re.MULTILINE,
)

_QUOTED_TITLE: Final = (
    r"[“\"„'\u2018\u201a«»『「\u2039《]\s*"
    r"(?P<title{0}>[^“”\"„\u2018’«»『』「」\u2039\u203a《》\n]{{2,80}}?)"
    r"[.:]?\s*(?:[”\"“’\u2018»«』」\u203a》]|'(?!\w))"
)
_NOUN: Final = (
    r"(?i:(?:sub-?)?sections?|(?:sub-?)?headings?|headlines?|chapters?|"
    r"(?:Zwischen)?überschrift(?:en)?|(?:Unter)?abschnitt(?:es|s|en)?|kapitels?|rubrik|"
    r"sheets?|tabellenblatt(?:es|s)?)"
)
_LOOSE_NOUN: Final = (
    r"(?i:clauses?|parts?|titles?|articles?|slides?|tabs?|messages?|e-?mails?|annex|appendix|"
    r"schedule|klauseln?|teil(?:es|s)?|punkt(?:es|s)?|artikels?|folien?|blatt(?:es|s)?|nachricht|"
    r"mails?|anhang(?:s)?|anlage|absatz(?:es)?|paragra(?:ph|f)s?|tabelle|table)"
)
_CAPITALISED: Final = (
    r"[A-ZÄÖÜ][\w&'’-]*(?:\s+(?:(?:of|and|the|for|to|in|und|der|des|für|zur|von|&)\s+)?"
    r"[A-ZÄÖÜ][\w&'’-]*){0,6}"
)
_UNDER: Final = r"\b(?i:under|below|beneath|unter|unterhalb)\s+(?:(?i:the|dem|der|den|die)\s+)?"
_TITLES: Final = re.compile(
    rf"{_UNDER}(?:(?:{_NOUN}|{_LOOSE_NOUN})\s*[:,]?\s*)?{_QUOTED_TITLE.format(1)}"
    rf"|(?:\b(?:{_NOUN}|{_LOOSE_NOUN})|§)\s*[:,]?\s*(?:\w+\s+)?{_QUOTED_TITLE.format(2)}"
    rf"|{_QUOTED_TITLE.format(3)}[\s-]+(?:{_NOUN}|{_LOOSE_NOUN})\b"
    rf"|\b{_NOUN}\s+(?:(?i:on|über|zu|zur|zum|about|titled|called|named)\s+)?"
    rf"(?P<plain>{_CAPITALISED})"
)
_SURE_TITLE: Final = re.compile(rf"{_UNDER}|{_NOUN}")
"""Without this, as in “the clause: …”, a quote is not necessarily a heading."""
_KNOWN_QUOTED: Final = re.compile(
    rf"\b(?i:in|from|see|aus|im|siehe)\s+(?:(?i:the)\s+)?{_QUOTED_TITLE.format('')}"
)
_LOOSE_TITLES: Final = re.compile(
    rf"(?:{_UNDER}|\b{_LOOSE_NOUN}\s+|\b(?i:the|im|in)\s+)(?:{NUMBER}[.):]?\s+)?[*_]{{0,3}}"
    rf"(?P<title>{_CAPITALISED})"
)
_BEFORE_NOUN: Final = re.compile(
    rf"\b(?P<title>{_CAPITALISED})[\s-]+(?:{_NOUN}|{_LOOSE_NOUN})\b(?!\s*\d)"
)
_AFTER_DASH: Final = re.compile(r"\A\s*(?:[–—]|--?)\s*([^\n]{3,80}?)[\s.]*\Z")
_UNKNOWN_TITLE: Final = re.compile(rf"\b[Uu]nder\s+{_CAPITALISED}(?=\s*[,:])")
_CELL: Final = re.compile(
    r"(?:\A|[(\[]|\b(?i:in|cell)\s)\s*[A-Z]{1,2}\d{1,5}(?::[A-Z]{1,2}\d{1,5})?\s*(?:[:)\]]|\Z)"
)
_NAMED_CLAUSE: Final = re.compile(
    rf"\b(?i:the|der|die|im|in)\s+(?P<title>{_CAPITALISED}|[a-z]{{4,20}})[\s-]+"
    r"(?i:section|clause|chapter|heading|abschnitt|kapitel|klausel)\b(?!\s*\d)"
)
_IN_BRACKETS: Final = re.compile(r"[(\[]([^()\[\]\n]{2,200})[)\]]")
_LEADING_NUMBER: Final = re.compile(rf"^(?:(?:{LABEL}){TO_NUMBER})?{NUMBER}[.):]*\s+")

_BARE: Final = re.compile(
    r"(?P<lead>\A|[\n\t(\[;]|\b(?i:in|under|see|per|at|by|unter|laut|gemäß|nach|siehe|vgl\.|cf\.|"
    r"zu)\s+)[ *#]*(?P<number>\d{1,2}(?:\.\d{1,3}){1,4}(?:[a-z]\b)?"
    r"(?:\s?\((?:\d{1,2}|[a-z]|[ivx]{1,5})\))*)"
    rf"(?=[\s,;:.)\]–—-]|\Z){_NO_AMOUNT}"
)
"""A number without a label, as in “(4.2)” or “in 4.2”."""
_LEADS: Final = {
    "(", "[", "in", "under", "see", "per", "unter", "laut", "gemäß", "siehe", "vgl.", "cf.",
}  # fmt: skip
"""After these, a number is a place even if no document has it."""

_ENDINGS: Final = (
    r"\.(?:pdf|docx?|xlsx?|pptx?|epub|txt|md|markdown|html?|csv|tsv|eml|mbox|odt|rtf)\b"
)
FILE_NAME: Final = re.compile(r"[^\s\[\](){}<>“”„«»\"',;:/\\]+" + _ENDINGS, re.IGNORECASE)
"""Matches a file name; a name with spaces is only recognised if there is such a file."""
_AFTER_NAME: Final = re.compile(
    _ENDINGS + r"\s*[:,]\s*(\d{1,6})\s*(?:[)\]]|$)", re.IGNORECASE | re.MULTILINE
)

_OF: Final = re.compile(
    r"\s*,?\s*(?:of|in|des|der|vom|von|under|zu|aus|on|auf)?\s*(?:the|der|dem|des)?\s*"
)
_APART: Final = re.compile(r"[\s,]*")
_OF_LAW: Final = re.compile(
    r"\s*,?\s*(?:(?:of|des|der)\s+(?:the\s+)?(?:[A-ZÄÖÜ][\w-]*\s+){0,5}?(?:Act|Code|Laws?|"
    r"Regulations?|Directive|Constitution|Gesetz(?:es|buch(?:es|s)?)?|Verordnung)\b"
    r"|(?:[A-ZÄÖÜ][\w-]*(?:G|GB|O|VO)|GDPR|DSGVO)\b)"
)

_WITH_PAGES: Final = {
    LocationKind.PAGE,
    LocationKind.SLIDE,
    LocationKind.SHEET,
    LocationKind.MESSAGE,
}
"""Places whose own numbers say nothing about sections and chapters."""
_WITH_SECTIONS: Final = {LocationKind.HEADING, LocationKind.CHAPTER}
_COUNTED_BY_US: Final = {LocationKind.HEADING: "section", LocationKind.CHAPTER: "chapter"}
_IS_COUNT: Final = re.compile(r"-?\d{1,6}")


@dataclass(frozen=True)
class Mention:
    """A place that an answer names.

    Attributes:
        start: Its first character in the text that names it.
        end: The character after its last.
        numbers: The possible numbers: one, or all of a list or range; empty for a title.
        title: The words of a heading. If `label` is "vague", no document can show the place.
        is_certain: On a mismatch the place is wrong; otherwise it only counts as unchecked.
    """

    start: int
    end: int
    group: Group
    label: str
    numbers: tuple[Number, ...] = ()
    title: str = ""
    is_certain: bool = True


class Known:
    """The headings and numbers of all documents of a check."""

    def __init__(self, outlines: Callable[[], Sequence[Numbering]]) -> None:
        self._outlines = outlines

    def title(self, title: str) -> bool:
        """Return whether a document has a heading with this title."""
        return any(outline.has_title(title) for outline in self._outlines())

    def number(self, number: Number) -> bool:
        """Return whether a document has a heading with this number."""
        return any(outline.has_number(number) for outline in self._outlines())


def mentions(text: str, known: Known) -> list[Mention]:
    """Return the places that a text names, in order."""
    found = list(_numbered(text))
    ranges = [(mention.start, mention.end) for mention in found]
    for more in (_ordinals(text), _titled(text, known), _bare(text, known), _vague(text)):
        for mention in more:
            if not any(mention.start < end and mention.end > start for start, end in ranges):
                found.append(mention)
                ranges.append((mention.start, mention.end))
    return sorted(found, key=lambda mention: mention.start)


def other_words(text: str) -> int:
    """Count the words that name neither a place nor a file."""
    rest = FILE_NAME.sub(" ", text)
    for pattern in (_PLACE, _NTH, _BARE):
        rest = pattern.sub(" ", rest)
    return len(re.findall(r"\w+", rest))


def is_at_named_places(
    named: Iterable[Mention], document: Document, outline: Numbering, spans: Sequence[TextSpan],
    start: int, end: int,
) -> Answer:  # fmt: skip
    """Return whether an occurrence is at all the places that were named.

    Args:
        spans: Where the occurrence is, by place.
        start: Its first character in the document's text.
        end: The character after its last.
    """
    by_label: dict[str, set[Answer]] = {}
    in_annex = any(mention.group == "annex" for mention in named)
    for mention in named:
        answer = _stands(mention, document, outline, spans, start, end, in_annex=in_annex)
        if answer == "no" and not mention.is_certain:
            answer = "unknown"
        by_label.setdefault(mention.label, set()).add(answer)
    if any(answers == {"no"} for answers in by_label.values()):
        return "no"
    return "yes" if all(answers == {"yes"} for answers in by_label.values()) else "unknown"


def _stands(
    named: Mention, document: Document, outline: Numbering, spans: Sequence[TextSpan],
    start: int, end: int, *, in_annex: bool,
) -> Answer:  # fmt: skip
    if named.label == "vague":
        return "unknown"
    if named.label == "title":
        is_on_page = any(span.place.title.casefold() == named.title.casefold() for span in spans)
        return "yes" if is_on_page else outline.stands_under_title(named.title, start, end)
    kind = spans[0].place.kind
    counted = _counted(named, document)
    attached, page = spans[0].place.attached
    pages = {page} if attached else {span.place.number for span in spans}
    is_on_page = not pages.isdisjoint(counted)
    if named.group == "page":
        is_known = (page if attached else kind in _WITH_PAGES) and counted
        return "yes" if is_on_page else "no" if is_known else "unknown"
    if named.label in {"section", "chapter"} and kind in _WITH_SECTIONS and is_on_page:
        return "yes"
    answers = {
        outline.stands_under(named.group, named.label, number, start, end, in_annex=in_annex)
        for number in named.numbers
    }
    if answers == {"unknown"} and counted and _COUNTED_BY_US.get(kind) == named.label:
        return "no"  # the model is given these numbers
    return "yes" if "yes" in answers else "unknown" if "unknown" in answers else "no"


def _counted(named: Mention, document: Document) -> set[int]:
    """Return the place's numbers that can be numbers of pages or sections."""
    numbers = {
        int(number[0])
        for number in named.numbers
        if len(number) == 1 and _IS_COUNT.fullmatch(number[0])
    }
    return {len(document.sections)} if _LAST in numbers else numbers


def _numbered(text: str) -> Iterator[Mention]:
    """Yield the labelled places, with those that belong together joined."""
    last: Mention | None = None
    for mention in _labelled(text):
        if last is None:
            last = mention
            continue
        between = text[last.end : mention.start]
        if (
            mention.group in {"item", "fine"}
            and last.group in {"main", "item"}
            and (_APART.fullmatch(between) and len(last.numbers) == 1)
        ):
            last = _below(last, mention, mention.end)
        elif (
            last.group in {"item", "fine"}
            and mention.group in {"main", "item"}
            and (between.strip() and _OF.fullmatch(between) and len(mention.numbers) == 1)
            and mention.label != last.label
        ):
            last = replace(_below(mention, last, mention.end), start=last.start)
        else:
            yield last
            last = mention
    if last is not None:
        yield last
    for name in _AFTER_NAME.finditer(text):
        yield Mention(name.start(1), name.end(1), "page", "page", ((name[1],),))


def _below(one: Mention, other: Mention, end: int) -> Mention:
    """Join two places if the second is part of the first, as in “§ 3 Abs. 2”."""
    (number,) = one.numbers
    parts = other.numbers if other.group == "item" else ((f"{other.label} {other.numbers[0]}",),)
    return replace(one, end=end, numbers=tuple((*number, *part) for part in parts))


def _labelled(text: str) -> Iterator[Mention]:
    for found in _PLACE.finditer(text):
        if found["han"]:
            group, label = COUNTERS[found["counter"]]
            yield Mention(*found.span(), group, label, (number_of(found["han"]),))
        elif found["digits"]:
            group, label = COUNTERS.get(found["unit"], ("page", "page"))
            yield Mention(*found.span(), group, label, (number_of(found["digits"]),))
        else:
            group, label = label_of(found["label"])
            if IS_NUMBER_OF.match(found["label"]) and (
                found["spelled"] or _NOUN_BEFORE.search(text, 0, found.start())
            ):
                continue  # the number of an invoice or a house
            if found["spelled"]:
                numbers: tuple[Number, ...] = ((_WORDS[found["spelled"].casefold()],),)
            elif not _is_number(found["numbers"], group, label, text[found.end() :]):
                continue
            else:
                numbers = tuple(
                    _listed(found["numbers"], _MOST_PAGES if group == "page" else _MOST_CLAUSES)
                )
            is_law = bool(group == "main" and _OF_LAW.match(text, found.end()))
            yield Mention(*found.span(), group, label, numbers, is_certain=not is_law)


def _is_number(number: str, group: Group, label: str, after: str) -> bool:
    """Return whether a letter after a label is a number, and not a word such as “a” or “I”."""
    if any(character.isdigit() for character in number) or number.startswith("("):
        return True
    if number.islower():
        return label == "letter" or len(number) > 1
    if group == "annex" or label == "letter":
        return True
    return number not in {"A", "I"} or not _PROSE.match(after)


IS_NUMBER_OF: Final = re.compile(r"(?:nos?\.|numbers?|Nrn?\.|Nummern?)\Z", re.IGNORECASE)
_NOUN_BEFORE: Final = re.compile(
    r"(?<![^\W_])(?!(?i:in|under|unter|siehe|laut|see|per|the|gemäß|nach|und|and|or|oder|der|die|den|"
    r"abs|absatz|art|artikel|satz)\b)[^\W\d_]{3,}\.?\s+\Z"
)
_PROSE: Final = re.compile(r"\s+(?![a-zäöü]+s\b)[a-zäöü]")
"""Matches after the words “I” and “a”; but in “clause I says” the “I” is a number."""


def _listed(text: str, most: int) -> Iterator[Number]:
    """Yield the numbers of a list, including those within ranges, at most `most` for each range."""
    last: Number | None = None
    for found in _ONE_NUMBER.finditer(text):
        number = number_of(found[2])
        is_range = last and found[1] and _RANGE_SIGN.fullmatch(found[1].strip())
        if last and is_range and last[:-1] == number[:-1]:
            yield from ((*last[:-1], step) for step in _between(last[-1], number[-1], most))
        yield number
        last = number


def _between(first: str, last: str, most: int) -> Iterator[str]:
    """Yield the numbers or letters between two."""
    if first.isdecimal() and last.isdecimal():
        yield from map(str, range(int(first) + 1, min(int(last), int(first) + most)))
    elif len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        yield from map(chr, range(ord(first) + 1, ord(last)))


def _ordinals(text: str) -> Iterator[Mention]:
    """Yield places such as “the third clause”; ordinals of paragraphs cannot be checked."""
    for found in _NTH.finditer(text):
        group, label = label_of(found["label"])
        word = (found["word"] or "").casefold()
        if found["digits"]:
            number = int(found["digits"])
        elif word.startswith(("last", "final", "letzt")):
            number = _LAST
        else:
            number = next(
                (at for at, prefix in enumerate(_NTH_WORDS, 1) if word.startswith(prefix)), 0
            )
        if number and (group == "page" or (number > 0 and _DIVISION.fullmatch(found["label"]))):
            yield Mention(*found.span(), group, label, ((str(number),),))
        elif label not in {"point", "step", "rule"} and not _IS_TERM.match(found["label"]):
            yield Mention(*found.span(), "fine", "vague")


def _titled(text: str, known: Known) -> Iterator[Mention]:
    """Yield the headings that a text names."""
    for found in _TITLES.finditer(text):
        if found["plain"]:
            title = _longest_known(found["plain"], known) or found["plain"]
            if len(title) > 1:
                yield _title(found, title)
            continue
        quoted = next(filter(None, (found[f"title{group}"] for group in "123")))
        title = quoted if known.title(quoted) else _LEADING_NUMBER.sub("", quoted).strip()
        is_named = _SURE_TITLE.match(found[0]) or found["title3"]
        if not FILE_NAME.search(quoted) and (is_named or known.title(title)):
            yield _title(found, title)
    for found in _NAMED_CLAUSE.finditer(text):
        if found["title"][0].isupper() or known.title(found["title"]):
            yield _title(found, found["title"])
    yield from _known_titles(text, known)
    for found in _PART_NAME.finditer(text):
        yield _title(found, found["part"] or found["word"])


def _known_titles(text: str, known: Known) -> Iterator[Mention]:
    """Yield words that only name a heading if a document has it."""
    for found in _LOOSE_TITLES.finditer(text):
        if title := _longest_known(found["title"], known):
            yield _title(found, title)
    for found in _KNOWN_QUOTED.finditer(text):
        if known.title(found["title"]):
            yield _title(found, found["title"])
    for found in _BEFORE_NOUN.finditer(text):
        if known.title(found["title"]):
            yield _title(found, found["title"])
    for found in (*_IN_BRACKETS.finditer(text), *_AFTER_DASH.finditer(text)):
        for part in re.split(r"[,;–—]", found[1]):
            title = _LEADING_NUMBER.sub("", part.strip())
            if known.title(title):
                yield _title(found, title)


def _title(found: re.Match[str], title: str) -> Mention:
    return Mention(*found.span(), "main", "title", title=title)


def _longest_known(words: str, known: Known) -> str:
    """Return the longest beginning of the words that is a known heading, or ""."""
    parts = words.split()
    beginnings = (" ".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next(filter(known.title, beginnings), "")


def _bare(text: str, known: Known) -> Iterator[Mention]:
    """Yield numbers without a label that look like clause numbers."""
    for found in _BARE.finditer(text):
        number = number_of(found["number"])
        is_named = found["lead"].strip().casefold() in _LEADS or not re.search(
            r"\w", _BARE.sub("", text)
        )
        if known.number(number) or is_named:
            yield Mention(
                found.start("number"), found.end(), "main", "clause", (number,),
                is_certain=known.number(number),
            )  # fmt: skip


def _vague(text: str) -> Iterator[Mention]:
    for pattern in (_VAGUE, _UNKNOWN_TITLE, _CELL):
        for found in pattern.finditer(text):
            yield Mention(*found.span(), "fine", "vague")
