"""Reads DOCX (ECMA-376): the few parts of the archive that hold text, as it is displayed."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from xml.etree import ElementTree as ET

from app.documents.reading.collected import Collected, Outline, Words
from app.documents.reading.faults import Unreadable
from app.documents.reading.formulas import NOT_READ, FormulaTree
from app.documents.reading.limits import Limits
from app.documents.reading.numbering import AutomaticNumbers
from app.documents.reading.numerals import numeral
from app.documents.reading.package import Package, XmlReader
from app.documents.reading.symbols import symbol
from app.documents.values.documents import LocationKind, PagePicture, Unread
from app.documents.values.shifted import Shift, in_line

DOCX_START: Final = "word/document.xml"

_BEGINNING: Final = 64
_HEADING: Final = re.compile(r"(?:heading [1-9]|title)", re.IGNORECASE)
_LEVEL: Final = re.compile("[0-8]")
_OFF: Final = {"0", "false", "off"}
_ELSEWHERE: Final = {"Fallback", "moveFrom", "del", "pPrChange", "rPrChange", "sectPrChange"}
"""Elements whose text is repeated elsewhere, or was deleted."""
_WRITTEN: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_SHIFTS: Final[Mapping[str, Shift]] = {"superscript": "raised", "subscript": "lowered"}
_NOTE: Final = re.compile("(footnote|endnote)(Reference|Ref|)")
_LARGE: Final = 3_600_000
"""Minimum width and height of a picture that can be a page with words: 10 cm in EMU."""
_MOST_STYLES: Final = 50
"""Maximum length of a chain of styles that are based on each other."""


@dataclass
class _Style:
    """The properties that a style sets for its paragraphs and runs.

    Attributes:
        list: The number of its list; "" for no list, None if it does not say.
        level: The level in its list.
    """

    is_heading: bool = False
    list: str | None = None
    level: int | None = None
    shift: Shift = ""
    is_hidden: bool = False


@dataclass
class _Notes:
    """The numbers of footnotes or endnotes by id, in the order of their references in the text."""

    name: str
    form: str
    numbers: dict[str, str] = field(default_factory=dict)


def read_docx(package: Package, into: Collected) -> None:
    """Read a text, divided at its headings, then notes, headers and footers. Raises Unreadable."""
    styles = _styles(package)
    numbers = _numbering(package, styles)
    notes = (_Notes("footnote", "decimal"), _Notes("endnote", "lowerRoman"))
    outline = Outline(into)
    text = _Text(outline, styles, numbers, notes, into)
    package.feed(DOCX_START, text)
    text.finish()
    outline.end()
    for note in notes:
        name = f"word/{note.name}s.xml"
        if name in package:
            words = _words(package, name, styles, (note,), into)
            _add_part(into, f"{note.name.capitalize()}s", words)
    _read_margins(package, text, styles, into)
    if "word/comments.xml" in package and _words(package, "word/comments.xml", {}, (), into):
        into.unread.add(Unread.COMMENTS)


def _words(
    package: Package,
    name: str,
    styles: Mapping[str, _Style],
    notes: tuple[_Notes, ...],
    into: Collected,
) -> str:
    words = Words()
    reader = _Text(words, styles, _numbering(package, styles), notes, into)
    package.feed(name, reader)
    reader.finish()
    return words.text.strip()


def _add_part(into: Collected, title: str, text: str) -> None:
    if text:
        into.add(LocationKind.HEADING, f"({title.lower()})\n\n{text}", title)


def _read_margins(
    package: Package, text: _Text, styles: Mapping[str, _Style], into: Collected
) -> None:
    """Read the headers and footers that are displayed, each once."""
    even = "word/settings.xml" in package and any(
        element.tag == "evenAndOddHeaders" and element.get("val") not in _OFF
        for element in package.bare_tree("word/settings.xml")
    )
    related = package.related(DOCX_START)
    found: dict[str, dict[str, None]] = {"header": {}, "footer": {}}
    for kind, identifier in text.margins:
        part, name = related.get(identifier, ("", ""))
        if part in found and name in package and (kind != "even" or even):
            found[part][_words(package, name, styles, (), into)] = None
    for part, texts in found.items():
        _add_part(into, f"{part.capitalize()}s", "\n\n".join(filter(None, texts)))


def read_scanned_docx(package: Package, limits: Limits, into: Collected) -> None:
    """Read the pictures of a document without text as its pages. Raises Unreadable.

    Scanners write such documents. Pictures that cannot be read are skipped.
    """
    from app.documents.reading.pictures import picture_format, picture_of

    names = {name for kind, name in package.related(DOCX_START).values() if kind == "image"}
    for name in sorted(names & package.names, key=_by_number):
        data = package.read(name)
        try:
            form = picture_format(data[:_BEGINNING])
            found = picture_of(io.BytesIO(data), form, limits) if form else None
        except Unreadable:
            found = None
        if found is None:
            continue
        into.add(LocationKind.PAGE, "")
        number = len(into.sections)
        into.scanned.append(number)
        if len(into.pages) < limits.pages:
            into.pages.append(PagePicture(number, *found))


def _by_number(name: str) -> tuple[int, str]:
    """Return a sort key that puts image10.png after image9.png."""
    digits = re.findall(r"\d+", name)
    return int(digits[-1][:9]) if digits else 0, name


def _styles(package: Package) -> dict[str, _Style]:
    """Read the styles; names of headings are English in all languages, unlike their ids."""
    if "word/styles.xml" not in package:
        return {}
    found = {
        element.get("styleId", ""): element
        for element in package.bare_tree("word/styles.xml").iter("style")
    }
    styles: dict[str, _Style] = {}
    for identifier in found:
        chain: list[ET.Element] = []
        at = identifier
        while at in found and len(chain) < _MOST_STYLES and found[at] not in chain:
            chain.append(found[at])
            at = _value(found[at], "basedOn")
        style = styles[identifier] = _Style()
        for element in reversed(chain):
            _apply(element, style)
    return styles


def _apply(element: ET.Element, style: _Style) -> None:
    """Add a style's own properties to those of the styles it is based on."""
    level = element.find("pPr/outlineLvl")
    if level is not None:
        style.is_heading = bool(_LEVEL.fullmatch(level.get("val", "")))
    if _HEADING.fullmatch(_value(element, "name")):
        style.is_heading = True
    if element.find("pPr/numPr/numId") is not None:
        style.list = _value(element, "pPr/numPr/numId")
    if level_of_list := _value(element, "pPr/numPr/ilvl"):
        style.level = _digit(level_of_list)
    if align := _value(element, "rPr/vertAlign"):
        style.shift = _SHIFTS.get(align, "")
    hidden = element.find("rPr/vanish")
    if hidden is not None:
        style.is_hidden = hidden.get("val") not in _OFF


def _numbering(package: Package, styles: Mapping[str, _Style]) -> AutomaticNumbers:
    if "word/numbering.xml" not in package:
        return AutomaticNumbers()
    numbers = AutomaticNumbers(package.bare_tree("word/numbering.xml"))
    numbers.link({name: style.list for name, style in styles.items() if style.list})
    return numbers


def _value(element: ET.Element, path: str) -> str:
    found = element.find(path)
    return "" if found is None else found.get("val", "")


def _digit(text: str) -> int:
    return int(text) if _LEVEL.fullmatch(text) else 0


@dataclass
class _Paragraph:
    """A paragraph that is being read.

    Attributes:
        goes_on: Its end was deleted, so the next paragraph continues it.
    """

    pieces: list[tuple[Shift, str]] = field(default_factory=list)
    style: str = ""
    list: str | None = None
    level: int | None = None
    is_heading: bool | None = None
    goes_on: bool = False
    mark_is_hidden: bool = False


@dataclass
class _Run:
    """The formatting of a run; None takes the value of its style."""

    style: str = ""
    shift: Shift | None = None
    is_hidden: bool | None = None


class _Text(XmlReader):
    """Writes paragraphs with their automatic numbers, and each table row as a line.

    Attributes:
        margins: The headers and footers that are displayed, each as its kind and relation.
    """

    def __init__(
        self,
        out: Outline | Words,
        styles: Mapping[str, _Style],
        numbers: AutomaticNumbers,
        notes: tuple[_Notes, ...],
        into: Collected,
    ) -> None:
        self.margins: list[tuple[str, str]] = []
        self._out = out
        self._styles = styles
        self._numbers = numbers
        self._notes = {note.name: note for note in notes}
        self._unread = into.unread
        self._paragraphs: list[_Paragraph] = []
        self._rest: list[tuple[Shift, str]] = []
        self._row: list[str] = []
        self._run = _Run()
        self._note = ""
        self._section: list[tuple[str, str]] = []
        self._has_first = False
        self._in_text = self._in_properties = False
        self._cells = self._elsewhere = 0
        self._formula = FormulaTree()
        self._is_large = False

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._in_text = False
        if tag in _ELSEWHERE:
            if tag in {"del", "moveFrom"} and self._in_properties and self._paragraphs:
                self._paragraphs[-1].goes_on = True
            self._elsewhere += 1
        elif self._elsewhere or self._formula.opened(tag, attributes):
            return
        elif tag == "p":
            self._paragraphs.append(_Paragraph(self._rest))
            self._rest = []
        elif tag == "pPr":
            self._in_properties = True
        elif self._in_properties:
            self._set_paragraph(tag, attributes.get("val", ""), attributes)
        elif tag == "r":
            self._run = _Run()
        elif not self._set_run(tag, attributes.get("val", "")):
            self._written(tag, attributes)

    def _set_paragraph(self, tag: str, value: str, attributes: Mapping[str, str]) -> None:
        """Process an element that formats a paragraph."""
        if tag in {"headerReference", "footerReference", "titlePg"}:
            self._in_section(tag, attributes)
        if not self._paragraphs:
            return
        paragraph = self._paragraphs[-1]
        match tag:
            case "pStyle":
                paragraph.style = value
            case "outlineLvl":
                paragraph.is_heading = bool(_LEVEL.fullmatch(value))
            case "numId":
                paragraph.list = value
            case "ilvl":
                paragraph.level = _digit(value)
            case "vanish":
                paragraph.mark_is_hidden = value not in _OFF

    def _set_run(self, tag: str, value: str) -> bool:
        """Process an element that formats the text after it; return whether it is one."""
        match tag:
            case "rStyle":
                self._run.style = value
            case "vertAlign":
                self._run.shift = _SHIFTS.get(value, "")
            case "vanish":
                self._run.is_hidden = value not in _OFF
            case _:
                return False
        return True

    def _written(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Process an element that holds text or stands for a drawing."""
        if tag == "t":
            self._in_text = True
        elif tag == "tc":
            self._cells += 1
        elif tag in _WRITTEN:
            self._write(_WRITTEN[tag])
        elif tag == "sym":
            self._write(symbol(attributes.get("font", ""), attributes.get("char", "")))
        elif found := _NOTE.fullmatch(tag):
            self._of_note(found[1], found[2], attributes)
        elif tag in {"headerReference", "footerReference", "titlePg"}:
            self._in_section(tag, attributes)
        else:
            self._drawn(tag, attributes)

    def _of_note(self, name: str, part: str, attributes: Mapping[str, str]) -> None:
        """Process a note, a reference to one in the text, or the number at its beginning."""
        notes = self._notes.get(name)
        if notes is None:
            return
        if not part:
            self._note = attributes.get("id", "")
        elif part == "Ref":
            if self._note in notes.numbers and self._paragraphs:
                self._paragraphs[-1].pieces.append(("", f"{notes.numbers[self._note]} "))
        elif attributes.get("customMarkFollows", "0") in _OFF:
            number = numeral(len(notes.numbers) + 1, notes.form)
            notes.numbers.setdefault(attributes.get("id", ""), number)

    def _in_section(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "titlePg":
            self._has_first = attributes.get("val") not in _OFF
        else:
            self._section.append((attributes.get("type", "default"), attributes.get("id", "")))

    def _drawn(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Write a placeholder for a drawing that is not read."""
        if tag == "chart":
            self._leave_out(Unread.CHARTS, "(chart, not read)")
        elif tag == "relIds":
            self._leave_out(Unread.DIAGRAMS, "(diagram, not read)")
        elif tag == "OLEObject":
            if attributes.get("ProgID", "").startswith(("Equation", "MathType")):
                self._leave_out(Unread.FORMULAS, NOT_READ)
            else:
                self._leave_out(Unread.OBJECTS, "(embedded object, not read)")
        elif tag == "altChunk":
            self._leave_out(Unread.OBJECTS, "(embedded document, not read)")
            self._out.write("(embedded document, not read)\n\n")
        elif tag == "extent":
            sides = (attributes.get("cx", ""), attributes.get("cy", ""))
            self._is_large = all(
                side.isdigit() and len(side) < 10 and int(side) >= _LARGE for side in sides
            )
        elif tag == "blip" and self._is_large:
            self._is_large = False
            self._leave_out(Unread.PICTURES, "(picture, not read)")

    def _leave_out(self, reason: Unread, placeholder: str) -> None:
        self._unread.add(reason)
        if self._paragraphs:
            self._paragraphs[-1].pieces.append(("", f" {placeholder} "))

    def closed(self, tag: str) -> None:
        self._in_text = False
        if tag in _ELSEWHERE:
            self._elsewhere -= 1
        elif self._elsewhere:
            return
        elif (formula := self._formula.closed()) is not None:
            self._write_formula(formula)
        elif tag == "pPr":
            self._in_properties = False
        elif tag == "tc":
            self._cells -= 1
            self._row.append(" | ")
        elif tag == "tr" and not self._cells:
            self._end_row()
        elif tag == "p" and self._paragraphs:
            self._end_paragraph(self._paragraphs.pop())
        elif tag == "sectPr":
            self.margins += [
                margin for margin in self._section if margin[0] != "first" or self._has_first
            ]
            self._section, self._has_first = [], False

    def data(self, text: str) -> None:
        if not self._formula.data(text) and self._in_text:
            self._write(text)

    def finish(self) -> None:
        """Write the rest of the text."""
        if self._rest:
            self._end_paragraph(_Paragraph(self._rest))

    def _write_formula(self, formula: str) -> None:
        if self._paragraphs:
            self._write(formula)
        elif formula:
            self._out.write(f"{formula}\n\n")  # the formula is between paragraphs

    def _write(self, text: str) -> None:
        """Write text in the run's format, unless it is hidden."""
        if not self._paragraphs:
            return
        paragraph = self._paragraphs[-1]
        styles = [
            self._styles[name]
            for name in (self._run.style, paragraph.style)
            if name in self._styles
        ]
        hidden = self._run.is_hidden
        if hidden if hidden is not None else any(style.is_hidden for style in styles):
            return
        of_style: Shift = next((style.shift for style in styles if style.shift), "")
        shift = of_style if self._run.shift is None else self._run.shift
        paragraph.pieces.append((shift, text))

    def _end_row(self) -> None:
        line = "".join(self._row).removesuffix(" | ")
        self._row = []
        if line.strip(" |\t\n"):
            self._out.write(f"{line}\n")

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        if paragraph.goes_on:
            self._rest = paragraph.pieces
            return
        text = in_line(paragraph.pieces)
        number = ""
        if text.strip() or not paragraph.mark_is_hidden:
            number = self._number(paragraph)
        if number and text.strip():
            text = f"{number} {text.lstrip()}"
        if self._cells:
            self._row.append(f"{text} ")
        elif text.strip():
            style = self._styles.get(paragraph.style, _Style())
            heading = paragraph.is_heading
            if style.is_heading if heading is None else heading:
                self._out.heading(" ".join(text.split()))
            else:
                self._out.write(f"{text}\n\n")

    def _number(self, paragraph: _Paragraph) -> str:
        """Count a paragraph and return its automatic number."""
        style = self._styles.get(paragraph.style, _Style())
        own = paragraph.list is None
        number = style.list if own else paragraph.list
        if not number:
            return ""
        level = paragraph.level if paragraph.level is not None else style.level if own else None
        if level is None:
            level = self._numbers.level_of(number, (paragraph.style,))
        return self._numbers.next(number, level)
