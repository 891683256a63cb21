"""Reads the text of HTML as a browser would show it, without its style."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Final
from xml.etree import ElementTree as ET

from app.documents.reading.collected import Collected, Outline, Words
from app.documents.reading.encodings import decode
from app.documents.reading.formulas import NOT_READ, mathml_text
from app.documents.reading.numerals import numeral
from app.documents.values.shifted import Shift, in_line

_HIDDEN: Final = {"script", "style", "template", "head", "svg", "object"}
_HEADINGS: Final = {f"h{level}" for level in range(1, 7)}
_BLOCKS: Final = _HEADINGS | set(
    "address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption "
    "figure footer form header hr html legend li main nav ol p pre section summary table tbody "
    "tfoot thead tr ul".split()
)
_SPACED: Final = _HEADINGS | {"p", "blockquote", "pre", "table", "ul", "ol", "dl"}
_DECLARED: Final = re.compile(
    rb"<(?:meta[^>]{0,200}charset|\?xml[^>]{0,100}encoding)\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE
)
_SPACES: Final = re.compile(r"[ \t\n\r\f]+")
_NOT_SHOWN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
"""Styles that hide an element.

A font size of zero does not count: in many e-mails the elements within have sizes of their own.
"""
_SHIFTED: Final = re.compile(r"vertical-align\s*:\s*(super|sub)\b", re.IGNORECASE)
_DRAWN: Final = re.compile(r"\bkatex-html\b|\bMathJax_Preview\b")
"""Classes of elements that draw a formula that is also there as MathML."""
_FORMULA: Final = re.compile(r"\bmwe-math")
"""Classes of elements that hide MathML and show a picture of it."""
_PICTURE: Final = re.compile(r"\b(?:math|tex|latex|equation|formula)", re.IGNORECASE)
_LIST_TYPES: Final = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_UNMARKED: Final = re.compile(r"list-style(?:-type)?\s*:[^;]*\bnone\b", re.IGNORECASE)
_MOST_DEEP: Final = 300
_MOST_COUNTED: Final = 9
"""Maximum digits of the first number of a list."""
_NEVER_CLOSED: Final = set("area base br col embed hr img input link meta source track wbr".split())
_SELDOM_CLOSED: Final = set("p li dt dd tr td th option".split())


def read_html(data: bytes, into: Collected) -> None:
    """Read a page, divided at its headings. Raises Unreadable."""
    page = _Page(Outline(into))
    page.feed(_decoded(data))
    page.close()
    page.end()


def _decoded(data: bytes) -> str:
    declared = _DECLARED.search(data[:4096])
    return decode(data, declared[1].decode("ascii") if declared else "")


def html_text(data: bytes | str) -> tuple[str, str]:
    """Return a page's text undivided, and its title or first heading."""
    words = Words()
    page = _Page(words)
    page.feed(data if isinstance(data, str) else _decoded(data))
    page.close()
    page.end()
    return words.text, page.title or words.first


class _Page(HTMLParser):
    """Extracts the visible text without recursion, so deeply nested tags are cheap."""

    def __init__(self, out: Outline | Words) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._out = out
        self._hidden: list[str] = []
        self._in_title = False
        self._as_it_is = 0
        self._heading: list[tuple[Shift, str]] | None = None
        self._line: list[tuple[Shift, str]] = []
        self._shifts: list[tuple[str, Shift]] = []
        self._formula: list[ET.Element] = []
        self._lists: list[_List] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._in_formula(tag, attrs):
            return
        self._in_title = tag == "title" and "svg" not in self._hidden
        self._hide(tag, attrs)
        if self._hidden:
            return
        if tag in _BLOCKS or tag == "br":
            self._break(spaced=tag in _SPACED)
        values = {name: value or "" for name, value in attrs}
        self._begin_shift(tag, values)
        if tag in _HEADINGS:
            self._heading = []
        elif tag == "pre":
            self._as_it_is += 1
        elif tag in {"ul", "ol", "menu"}:
            self._lists.append(_List(tag, values))
        elif tag == "li":
            self._write(self._lists[-1].mark(values) if self._lists else "- ")
        elif tag in {"td", "th"} and self._line:
            self._line.append(("", " | "))
        elif tag == "img" and _draws_formula(values.get("class", "")):
            self._write(values.get("alt", "").strip() or NOT_READ)

    def _write(self, text: str) -> None:
        shift = self._shifts[-1][1] if self._shifts else ""
        (self._line if self._heading is None else self._heading).append((shift, text))

    def _begin_shift(self, tag: str, values: Mapping[str, str]) -> None:
        """Record the start of a superscript or subscript element, or of one within it."""
        if tag in _NEVER_CLOSED:
            return
        found = _SHIFTED.search(values.get("style", ""))
        if tag in {"sup", "sub"} or found:
            lowered = found[1].lower() == "sub" if found else tag == "sub"
            self._shifts.append((tag, "lowered" if lowered else "raised"))
        elif any(tag == other for other, _ in self._shifts):
            self._shifts.append((tag, self._shifts[-1][1]))

    def _in_formula(self, tag: str, attrs: list[tuple[str, str | None]]) -> bool:
        """Process the start of an element; return whether it belongs to a formula."""
        name = tag.rpartition(":")[2]
        if not self._formula:
            if name != "math" or self._hidden:
                return False
        elif tag in _BLOCKS and self._formula[-1].tag not in {"mtext", "annotation-xml"}:
            self._end_formula()  # the formula was never closed
            return False
        element = ET.Element(name, {one: value or "" for one, value in attrs})
        if self._formula:
            self._formula[-1].append(element)
        if len(self._formula) < _MOST_DEEP:
            self._formula.append(element)
        return True

    def _end_in_formula(self, name: str) -> bool:
        """Process the end of an element; return whether it belongs to the formula."""
        if name == "math" or len(self._formula) == 1:
            self._end_formula()
        elif self._formula[-1].tag == name:
            self._formula.pop()
        return name == "math" or bool(self._formula)

    def _end_formula(self) -> None:
        formula, self._formula = self._formula[0], []
        self._write(mathml_text(formula) or (NOT_READ if len(formula) else ""))

    def _hide(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the start of a hidden element, or of one within it."""
        if tag == "body":
            self._hidden.clear()  # <head> does not have to be closed
        if self._hidden[-1:] == [tag] and tag in _SELDOM_CLOSED:
            self._hidden.pop()
        if tag in _HIDDEN or tag in self._hidden or _is_hidden(tag, attrs):
            self._hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._formula and self._end_in_formula(tag.rpartition(":")[2]):
            return
        self._in_title = False
        if tag in self._hidden:
            last = len(self._hidden) - 1 - self._hidden[::-1].index(tag)
            del self._hidden[last:]
            return
        if self._hidden:
            return
        if tag in _HEADINGS and self._heading is not None:
            title = _SPACES.sub(" ", in_line(self._heading)).strip()
            self._heading = None
            if title:
                self._out.heading(title)
        elif tag in _BLOCKS:
            self._break(spaced=tag in _SPACED)
        if tag == "pre" and self._as_it_is:
            self._as_it_is -= 1
        if tag in {"ul", "ol", "menu"} and self._lists:
            self._lists.pop()
        self._end_shift(tag)

    def _end_shift(self, tag: str) -> None:
        """End a superscript or subscript, and elements within it that were never closed."""
        if any(tag == other for other, _ in self._shifts):
            while self._shifts.pop()[0] != tag:
                continue

    def handle_data(self, data: str) -> None:
        if self._formula:
            last = self._formula[-1]
            if len(last):
                last[-1].tail = (last[-1].tail or "") + data
            else:
                last.text = (last.text or "") + data
        elif self._in_title:
            self.title = self.title or " ".join(data.split())
        elif not self._hidden:
            self._write(data if self._as_it_is else _SPACES.sub(" ", data))

    def end(self) -> None:
        """Write the rest of the text."""
        if self._formula:
            self._end_formula()
        self._break(spaced=False)
        self._out.end()

    def _break(self, *, spaced: bool) -> None:
        if self._heading is not None:
            self._line, self._heading = self._heading, None  # the heading was never closed
        line = in_line(self._line)
        if not self._as_it_is:
            line = re.sub(" {2,}", " ", line).strip()
        self._line = []
        self._shifts.clear()  # one that was never closed ends with its line
        if line.strip():
            self._out.write(line + "\n")
        if spaced:
            self._out.write("\n")


def _draws_formula(classes: str) -> bool:
    """Return whether a picture shows a formula that is not also there as MathML."""
    return bool(_PICTURE.search(classes)) and not _FORMULA.search(classes)


class _List:
    """A list that counts its items."""

    def __init__(self, tag: str, values: Mapping[str, str]) -> None:
        counts = tag == "ol" and not _UNMARKED.search(values.get("style", ""))
        self._form = _LIST_TYPES.get(values.get("type", ""), "decimal") if counts else ""
        self._next = _integer(values.get("start", ""), 1)

    def mark(self, values: Mapping[str, str]) -> str:
        """Return the mark before an item, and count it."""
        if not self._form:
            return "- "
        number = _integer(values.get("value", ""), self._next)
        self._next = number + 1
        return f"{numeral(number, self._form)}. "


def _integer(text: str, otherwise: int) -> int:
    text = text.strip()
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_COUNTED
    return int(text) if is_number else otherwise


def _is_hidden(tag: str, attributes: list[tuple[str, str | None]]) -> bool:
    """Return whether an element is hidden, or draws a formula a second time."""
    values = dict(attributes)
    classes = values.get("class") or ""
    if tag in _NEVER_CLOSED or _FORMULA.search(classes):
        return False
    drawn = _DRAWN.search(classes) or (tag == "nobr" and values.get("aria-hidden") == "true")
    return bool(drawn) or "hidden" in values or bool(_NOT_SHOWN.search(values.get("style") or ""))
