"""Reads PPTX (ECMA-376): the slides in order, with their notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.documents.reading.collected import Collected
from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.formulas import NOT_READ, FormulaTree
from app.documents.reading.numerals import numeral
from app.documents.reading.package import Package, XmlReader
from app.documents.values.documents import LocationKind, Unread
from app.documents.values.shifted import Shift, in_line

PPTX_START: Final = "ppt/presentation.xml"

_NUMBERED: Final = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle",
    "ea1": "chineseCounting",
}
_OFF: Final = {"0", "false"}
_TITLES: Final = {"title", "ctrTitle"}
_FOOTERS: Final = {"ftr", "dt", "hdr"}
_LARGE: Final = 3_600_000
"""Minimum width and height of a picture that can contain words: 10 cm in EMU."""


def read_pptx(package: Package, into: Collected) -> None:
    """Read the slides in order, each with its notes. Raises Unreadable."""
    order = _Order()
    package.feed(PPTX_START, order)
    related = package.related(PPTX_START)
    for identifier in order.slides:
        if identifier not in related:
            raise Unreadable(Fault.DAMAGED)
        name = related[identifier][1]
        slide = _Slide(into.unread)
        package.feed(name, slide)
        text = "".join(slide.parts)
        title = " ".join("".join(slide.title).split())
        has_text = bool(text.strip())
        if slide.footers:
            text += "\n(footer)\n" + "".join(slide.footers)
        if slide.is_hidden:
            text = f"(hidden slide)\n{text}"
        for kind, other in package.related(name).values():
            if kind == "notesSlide" and other in package:
                notes = _Slide(into.unread, only_notes=True)
                package.feed(other, notes)
                if notes_text := "".join(notes.parts).strip():
                    text += f"\n(notes)\n{notes_text}\n"
            elif kind == "comments":
                into.unread.add(Unread.COMMENTS)
        into.add(LocationKind.SLIDE, text, title)
        if not has_text and slide.has_picture:
            into.scanned.append(len(into.sections))


class _Order(XmlReader):
    """Reads the order of the slides."""

    def __init__(self) -> None:
        self.slides: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        # The element has an `id` of its own in addition to the relation's.
        if tag.endswith("}sldId"):
            names = [value for name, value in attributes.items() if name.endswith("}id")]
            self.slides.extend(names)


class _Slide(XmlReader):
    """Collects the text of a slide, its title and its footers."""

    def __init__(self, unread: set[Unread], *, only_notes: bool = False) -> None:
        """Begin a slide.

        Args:
            unread: Collects the parts that were left out.
            only_notes: It is a page of notes, of which only the notes themselves are read.
        """
        self.parts: list[str] = []
        self.title: list[str] = []
        self.footers: list[str] = []
        self.is_hidden = self.has_picture = False
        self._unread = unread
        self._only_notes = only_notes
        self._kind = ""
        self._pieces: list[tuple[Shift, str]] = []
        self._shift: Shift = ""
        self._counts: dict[int, int] = {}
        self._level = 0
        self._number = ""
        self._in_text = self._in_table = self._shape_is_hidden = False
        self._fallback = 0
        self._picture: tuple[str, str] | None = None
        self._formula = FormulaTree()

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._in_text = False
        if tag == "Fallback":
            self._fallback += 1
        elif self._fallback or self._formula.opened(tag, attributes):
            return
        elif tag == "t":
            self._in_text = True
        elif not self._begin_shape(tag, attributes):
            self._begin_words(tag, attributes)

    def _begin_shape(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Process the start of a drawn object; return whether it is one."""
        match tag:
            case "sld":
                self.is_hidden = attributes.get("show") in _OFF
            case "sp" | "graphicFrame" | "cxnSp":
                self._kind, self._shape_is_hidden = "", False
                self._counts.clear()
            case "pic":
                self._kind, self._shape_is_hidden = "", False
                self._picture = ("", "")
            case "cNvPr":
                self._shape_is_hidden = attributes.get("hidden", "0") not in _OFF
            case "ph":
                self._kind = attributes.get("type", "")
            case "tbl":
                self._in_table = True
            case "ext" if self._picture is not None and "cx" in attributes:
                self._picture = (attributes["cx"], attributes.get("cy", ""))
            case "chart" | "relIds" | "oleObj":
                self._leave_out(tag, attributes)
            case _:
                return False
        return True

    def _begin_words(self, tag: str, attributes: Mapping[str, str]) -> None:
        match tag:
            case "p":
                self._level, self._number, self._pieces = 0, "", []
            case "pPr":
                level = attributes.get("lvl", "")
                self._level = int(level) if level in set("12345678") else 0
            case "buAutoNum":
                self._number = self._next(attributes.get("type", ""), attributes.get("startAt", ""))
            case "r" | "fld":
                self._shift = ""
            case "rPr":
                self._shift = _shift_of(attributes.get("baseline", ""))
            case "br":
                self._pieces.append(("", "\n"))

    def _next(self, form: str, start: str) -> str:
        """Count a paragraph of a list and return its number as shown."""
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1
        number = self._counts[self._level] = self._counts.get(self._level, first - 1) + 1
        name = next((prefix for prefix in _NUMBERED if form.startswith(prefix)), "arabic")
        written = numeral(number, _NUMBERED[name])
        if form.endswith("ParenBoth"):
            return f"({written})"
        if form.endswith("ParenR"):
            return f"{written})"
        return f"{written}." if form.endswith("Period") else written

    def _leave_out(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Write a placeholder for an object that is not read."""
        if tag == "oleObj" and attributes.get("progId", "").startswith(("Equation", "MathType")):
            found, placeholder = Unread.FORMULAS, NOT_READ
        else:
            found, placeholder = {
                "chart": (Unread.CHARTS, "(chart, not read)"),
                "relIds": (Unread.DIAGRAMS, "(diagram, not read)"),
            }.get(tag, (Unread.OBJECTS, "(embedded object, not read)"))
        self._unread.add(found)
        self.parts.append(f"{placeholder}\n")

    def closed(self, tag: str) -> None:
        self._in_text = False
        if tag == "Fallback":
            self._fallback -= 1
        elif self._fallback:
            return
        elif (formula := self._formula.closed()) is not None:
            self._pieces.append(("", formula))
        elif tag == "tbl":
            self._in_table = False
        elif tag == "tc":
            self.parts.append(" | ")
        elif tag == "tr":
            self.parts.append("\n")
        elif tag == "p":
            self._end_paragraph()
        elif tag == "pic" and self._picture is not None:
            self._end_picture(self._picture)

    def _end_picture(self, sides: tuple[str, str]) -> None:
        self.has_picture = True
        self._picture = None
        if all(side.isdigit() and len(side) < 10 and int(side) >= _LARGE for side in sides):
            self._unread.add(Unread.PICTURES)

    def _end_paragraph(self) -> None:
        text = in_line(self._pieces)
        self._pieces = []
        if not self._number:
            self._counts = {at: count for at, count in self._counts.items() if at < self._level}
        else:
            self._counts = {at: count for at, count in self._counts.items() if at <= self._level}
        if self._number and text.strip():
            text = f"{self._number} {text}"
        if self._shape_is_hidden or self._kind == "sldNum":
            return
        if self._only_notes and self._kind != "body":
            return
        if self._kind in _FOOTERS:
            self.footers += [f"{text}\n"] if text.strip() else []
            return
        self.parts.append(f"{text} " if self._in_table else f"{text}\n")
        if self._kind in _TITLES:
            self.title.append(f"{text} ")

    def data(self, text: str) -> None:
        if not self._formula.data(text) and self._in_text and not self._fallback:
            self._pieces.append((self._shift, text))


def _shift_of(baseline: str) -> Shift:
    """Return whether text is raised or lowered, by its baseline in thousandths of a percent."""
    if not baseline.strip("0%"):
        return ""
    return "lowered" if baseline.startswith("-") else "raised"


def drawn_words(package: Package, name: str, unread: set[Unread]) -> str:
    """Return the text of the shapes in a drawing, such as one on a sheet."""
    shapes = _Slide(unread)
    package.feed(name, shapes)
    return "\n".join(filter(None, map(str.strip, "".join(shapes.parts).splitlines())))
