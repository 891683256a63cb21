"""Reads DOCX and PPTX (ECMA-376): the few parts of the archives that hold words."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Final

from app.core.documents import LocationKind, PagePicture
from app.documents.collected import Collected, Outline, raised
from app.documents.faults import Fault, Unreadable
from app.documents.limits import Limits
from app.documents.package import Package, XmlReader

DOCX_START: Final = "word/document.xml"
PPTX_START: Final = "ppt/presentation.xml"

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT_W: Final = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_BEGINNING: Final = 64
_HEADING: Final = re.compile(r"(?:heading [1-9]|title)", re.IGNORECASE)
_LEVEL: Final = re.compile("[0-8]")
_OFF: Final = {"0", "false", "off"}
_MOVED: Final = {"Fallback", "moveFrom"}
"""Elements whose words stand elsewhere as well: what is read instead, and where it was moved to."""
_OF_RUN: Final = {"r", "vertAlign", "vanish"}
_PROPERTIES: Final = {"pPr", "rPrChange"}
"""Of a paragraph, and those that a run had before."""
_WRITTEN: Final = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read_docx(package: Package, into: Collected) -> None:
    """Read a text, divided at its headings; foot- and endnotes stand at its end.

    Raises Unreadable.
    """
    headings = _heading_styles(package)
    outline = Outline(into)
    package.feed(DOCX_START, _Text(outline, headings))
    for name in ("word/footnotes.xml", "word/endnotes.xml"):
        if name in package:
            package.feed(name, _Text(outline, set()))
    outline.end()


def read_scanned_docx(package: Package, limits: Limits, into: Collected) -> None:
    """Take the pictures of a text without words for its pages. Raises Unreadable.

    So do scanners write it. What is no picture that can be read is none of its pages.
    """
    from app.documents.pictures import picture_format, picture_of

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
    """Order image10.png behind image9.png."""
    digits = re.findall(r"\d+", name)
    return int(digits[-1][:9]) if digits else 0, name


def _heading_styles(package: Package) -> set[str]:
    """Return the styles of headings; their names are English in all languages, unlike their IDs."""
    if "word/styles.xml" not in package:
        return set()
    styles = package.tree("word/styles.xml")
    found = set()
    for w in (_W, _STRICT_W):
        for style in styles.iter(f"{w}style"):
            name = style.find(f"{w}name")
            level = style.find(f"{w}pPr/{w}outlineLvl")
            named = name is not None and _HEADING.fullmatch(name.get(f"{w}val", ""))
            if named or (level is not None and _LEVEL.fullmatch(level.get(f"{w}val", ""))):
                found.add(style.get(f"{w}styleId", ""))
    return found


class _Text(XmlReader):
    """Writes paragraphs, and each row of a table as a line."""

    def __init__(self, out: Outline, headings: set[str]) -> None:
        self._out = out
        self._headings = headings
        self._line: list[str] = []
        self._in_text = False
        self._is_heading = False
        self._in_properties = False
        self._cells = 0
        self._moved = 0
        self._is_raised = self._is_hidden = False

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._in_text = tag == "t" and not self._moved and not self._is_hidden
        if tag in _MOVED:
            self._moved += 1
        elif self._moved:
            return
        elif tag in _OF_RUN:
            self._set_run(tag, attributes.get("val", ""))
        elif tag == "p":
            self._is_heading = False
        elif tag in _PROPERTIES:
            self._in_properties = True
        elif tag == "pStyle":
            self._is_heading = attributes.get("val") in self._headings
        elif tag == "outlineLvl":
            self._is_heading = bool(_LEVEL.fullmatch(attributes.get("val", "")))
        elif tag == "tc":
            self._cells += 1
        elif tag in _WRITTEN and not self._in_properties:
            self._line.append(_WRITTEN[tag])

    def _set_run(self, tag: str, value: str) -> None:
        """Take what says how words of a run look that follow; a paragraph's own mark is no word."""
        if tag == "r":
            self._is_raised = self._is_hidden = False
        elif self._in_properties:
            return
        elif tag == "vertAlign":
            self._is_raised = value == "superscript"
        else:
            self._is_hidden = value not in _OFF

    def closed(self, tag: str) -> None:
        self._in_text = False
        if tag in _MOVED:
            self._moved -= 1
        elif self._moved:
            return
        elif tag in _PROPERTIES:
            self._in_properties = False
        elif tag == "tc":
            self._cells -= 1
            self._line.append(" | ")
        elif tag == "tr" and not self._cells:
            self._end_line("".join(self._line).removesuffix(" | "), "\n")
        elif tag == "p":
            if self._cells:
                self._line.append(" ")
            else:
                self._end_line("".join(self._line), "\n\n")

    def data(self, text: str) -> None:
        if self._in_text:
            self._line.append(raised(text) if self._is_raised else text)

    def _end_line(self, line: str, end: str) -> None:
        self._line = []
        if not line.strip(" |\t\n"):
            return
        if self._is_heading and end == "\n\n":
            self._out.heading(" ".join(line.split()))
        else:
            self._out.write(line + end)


def read_pptx(package: Package, into: Collected) -> None:
    """Read the slides in their order, each with its notes. Raises Unreadable."""
    order = _Order()
    package.feed(PPTX_START, order)
    related = package.related(PPTX_START)
    for identifier in order.slides:
        if identifier not in related:
            raise Unreadable(Fault.DAMAGED)
        name = related[identifier][1]
        slide = _Slide()
        package.feed(name, slide)
        text = "".join(slide.parts)
        for kind, other in package.related(name).values():
            if kind == "notesSlide":
                notes = _Slide()
                package.feed(other, notes)
                text += "\n" + "".join(notes.parts)
        into.add(LocationKind.SLIDE, text, "".join(slide.title))


class _Order(XmlReader):
    """Finds out in which order the slides come."""

    def __init__(self) -> None:
        self.slides: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        # It has an `id` of its own beside that of the relation.
        if tag.endswith("}sldId"):
            names = [value for name, value in attributes.items() if name.endswith("}id")]
            self.slides.extend(names)


class _Slide(XmlReader):
    """Collects the words on a slide, and those of its title."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.title: list[str] = []
        self._kind = ""
        self._in_text = False
        self._in_table = False
        self._fallback = 0
        self._is_raised = False

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "Fallback":
            self._fallback += 1
        elif tag == "r":
            self._is_raised = False
        elif tag == "rPr":
            self._is_raised = not attributes.get("baseline", "0").startswith(("0", "-"))
        elif tag == "sp":
            self._kind = ""
        elif tag == "ph":
            self._kind = attributes.get("type", "")
        elif tag == "tbl":
            self._in_table = True
        self._in_text = tag == "t" and not self._fallback and self._kind != "sldNum"

    def closed(self, tag: str) -> None:
        self._in_text = False
        if tag == "Fallback":
            self._fallback -= 1
        elif tag == "tbl":
            self._in_table = False
        elif tag == "tc":
            self.parts.append(" | ")
        elif tag == "tr" or (tag in {"p", "br"} and not self._in_table):
            self.parts.append("\n")

    def data(self, text: str) -> None:
        if self._in_text:
            text = raised(text) if self._is_raised else text
            self.parts.append(text)
            if self._kind in {"title", "ctrTitle"}:
                self.title.append(text)
