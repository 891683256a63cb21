"""The labels and numbers that name places of a document, in English, German and other languages."""

from __future__ import annotations

import re
from typing import Final, Literal

Group = Literal["page", "main", "annex", "item", "caption", "fine"]
"""The groups of labels.

page: Places that Hearth counts itself: pages, slides, sheets, messages.
main: Divisions of a text, such as clauses and sections.
annex: Parts after the main text, with a numbering of their own.
item: Parts of a division, such as paragraphs and points.
caption: Tables and figures.
fine: Lines, rows, cells and notes, whose numbers the read text does not have.
"""

_LABELS: Final[tuple[tuple[Group, str, str], ...]] = (
    ("page", "page", r"""pages? pgs?\.? pp?\.? Seiten? S\. slides? Folien? sheets? Blatt Blätter
        messages? Nachricht(?:en)? หน้า"""),
    ("main", "section", r"(?:sub-?)?sections? secs?\. (?:Unter)?Abschnitt(?:en?|s)? Abschn\."),
    ("main", "chapter", r"chapters? chs?\. chaps?\. Kapiteln?s? Kap\. หมวด บทที่"),
    ("main", "clause", r"""(?:sub-?)?clauses? cls?\. (?:Vertrags)?Klauseln? ข้อ provisions?
        stipulations? terms? conditions? covenants? Bestimmung(?:en)? Regelung(?:en)?
        Bedingung(?:en)? Vorschrift(?:en)?"""),
    ("main", "article", r"articles? arts?\. Artikeln?s? มาตรา"),
    ("main", "§", r"§{1,2} Paragraf(?:en|s|e)? Paragraphen"),
    ("main", "rule", r"(?:rule|regulation)s? Regeln?"),
    ("main", "part", r"parts? Teil(?:en?|s)? titles? Titel[ns]? books? Buch(?:es|s)?"),
    ("annex", "annex", r"""annex(?:es)? appendi(?:x|ces) Anhang(?:s|es)? Anhängen? Anlagen?
        附件 別紙"""),
    ("annex", "schedule", r"(?:schedule|exhibit|attachment|enclosure)s? Beilagen? Beiblatt"),
    ("item", "paragraph", r"""(?:sub-?)?paragraphs? (?:sub-?)?paras?\.? ¶ Absatz(?:es)?
        Absätzen? Abs\."""),
    ("item", "point", r"""(?:bullet\s)?points? bullets? (?:list\s)?items? numbers? nos?\.
        (?:Unter)?Punkt(?:en?|s|es)? Ziffern? Ziff\. Nummern? Nrn?\. Position(?:en)? Pos\. Pkt\.
        Listenpunkt(?:en?|s)? Spiegelstrich(?:en?|s)? entry entries Eintr(?:ag|ags|äge)"""),
    ("item", "step", r"""steps? Schritt(?:en?|s)? questions? Fragen? recitals? requirements?
        Erwägungsgr(?:unds?|ünden?) Anforderung(?:en)?"""),
    ("item", "letter", r"letters? lit\. Buchstaben? Buchst\."),
    ("caption", "table", r"tables? tabs?\. Tabellen? 表"),
    ("caption", "figure", r"""charts? graphs? images? pictures? photos? Bild(?:er)? Grafik(?:en)?
        Schaubild(?:er)? figures? figs?\. Abbildung(?:en)? Abb\. diagrams? Diagramm(?:en?|s)?
        图 圖 図"""),
    ("fine", "line", r"lines? Zeilen? Z\. ll?\."),
    ("fine", "row", r"""rows? columns? cols?\. cells? Reihen? Spalten? Zellen? Tabellenzeilen?"""),
    ("fine", "note", r"""foot-?notes? end-?notes? notes? fns?\.? Fu(?:ß|ss)noten? Endnoten?
        Anmerkung(?:en)? Anm\."""),
    ("fine", "margin", r"""margin(?:al)?\s+numbers? Randnummern? Randziffern? Rdnr?n?\. Rn\.
        Rz\."""),
    ("fine", "sentence", r"""sentences? S(?:atz|ätze|ätzen|atzes) verses? Verse?n? equations?
        eqs?\. Gleichung(?:en)? Gl\. formulas? Formeln? box(?:es)? panels? examples? Beispiele?n?
        listings? lemmas? theorems? definitions? passages? Textstellen? Stellen? headings?
        Überschrift(?:en)? folios? volumes? vol\. Band Bd\. minutes? blocks?"""),
)  # fmt: skip

LABEL: Final = "(?i:" + "|".join("|".join(label.split()) for _, _, label in _LABELS) + ")"
"""Matches every label; to be used after a word border."""
TO_NUMBER: Final = r"(?:\s*(?:(?i:no\.|nr\.|numbere?d?|nummer)|[#:]))?(?:\s+|(?=[\d(])|(?<=\W))"
"""Matches the text between a label and its number."""
_OF_LABEL: Final = tuple(
    (re.compile("|".join(words.split()), re.IGNORECASE), group, name)
    for group, name, words in _LABELS
)
COUNTERS: Final[dict[str, tuple[Group, str]]] = {
    **dict.fromkeys("条條", ("main", "article")),
    **dict.fromkeys("章", ("main", "chapter")),
    **dict.fromkeys("节節", ("main", "section")),
    **dict.fromkeys("编編部", ("main", "part")),
    **dict.fromkeys("款項项段", ("item", "paragraph")),
    **dict.fromkeys("号號点點", ("item", "point")),
    **dict.fromkeys("页頁", ("page", "page")),
    **dict.fromkeys("行列", ("fine", "row")),
}
"""Labels that come after the number, as in 第4条."""

HAN: Final = "零\u3007一二三四五六七八九十百"
NUMBER: Final = (
    r"(?:\d{1,6}(?:\.\d{1,3})*+(?:[a-z](?![^\W_]))?|[IVXLC]{1,7}(?![^\W_])|"
    r"[ivx]{2,6}(?![^\W_])|[A-Z]{1,2}\d{0,4}(?![^\W_])|\((?:\d{1,3}|[a-z]|[ivx]{1,5})\)|"
    rf"[a-z](?![^\W_])|[{HAN}]{{1,5}})"
    r"(?:\s?\((?:\d{1,2}|[a-z]|[ivx]{1,5})\))*+"
)
"""Matches the number of a place: 4.2(b), IV, B, B4."""

_PARTS: Final = re.compile(rf"[{HAN}]+|\d+|[A-Za-z]+")
_ROMAN: Final = re.compile(r"(?:C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))")
_ROMAN_DIGITS: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_HAN_DIGITS: Final = {digit: at for at, digit in enumerate("零一二三四五六七八九")} | {"\u3007": 0}
_HAN_TENS: Final = {"十": 10, "百": 100}

Number = tuple[str, ...]
"""The parts of a number, as ("4", "2", "b"); Roman and Chinese numerals become digits."""


def label_of(words: str) -> tuple[Group, str]:
    """Return the group and the name of a label matched by `LABEL`."""
    return next((group, name) for pattern, group, name in _OF_LABEL if pattern.fullmatch(words))


def number_of(text: str) -> Number:
    """Read a number matched by `NUMBER`."""
    parts = [match[0] for match in _PARTS.finditer(text)]
    return tuple(_part(part) for part in parts)


def _part(text: str) -> str:
    if text.isdecimal():
        return str(int(text))
    if text[0] in _HAN_DIGITS or text[0] in _HAN_TENS:
        return str(_han(text))
    if text.isupper() and (len(text) > 1 or text in "IVX") and _ROMAN.fullmatch(text):
        return str(roman(text))
    return text.casefold()


def roman(text: str) -> int:
    """Return the value of a Roman numeral."""
    values = [_ROMAN_DIGITS[digit] for digit in text.upper()]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _han(text: str) -> int:
    """Return the value of a Chinese numeral below a thousand."""
    value = digit = 0
    for character in text:
        if character in _HAN_TENS:
            value += (digit or 1) * _HAN_TENS[character]
            digit = 0
        else:
            digit = _HAN_DIGITS[character]
    return value + digit
