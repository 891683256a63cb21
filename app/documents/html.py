"""Reads the text of HTML as a browser would show it, without its style."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from app.documents.collected import Collected, Outline, raised
from app.documents.text import decode

_HIDDEN: Final = {"script", "style", "template", "head", "svg", "math", "object"}
_HEADINGS: Final = {f"h{level}" for level in range(1, 7)}
_BLOCKS: Final = _HEADINGS | set(
    "address article aside blockquote body caption dd details dialog div dl dt fieldset figcaption "
    "figure footer form header hr html legend li main nav ol p pre section summary table tbody "
    "tfoot thead tr ul".split()
)
_SPACED: Final = _HEADINGS | {"p", "blockquote", "pre", "table", "ul", "ol", "dl"}
_DECLARED: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]+)", re.IGNORECASE)
_SPACES: Final = re.compile(r"[ \t\n\r\f]+")
_NOT_SHOWN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
"""Not letters of no size: what lies in such an element has a size of its own in many e-mails."""
_NEVER_CLOSED: Final = set("area base br col embed hr img input link meta source track wbr".split())
_SELDOM_CLOSED: Final = set("p li dt dd tr td th option".split())


def read_html(data: bytes, into: Collected) -> None:
    """Read a page, divided at its headings. Raises Unreadable."""
    declared = _DECLARED.search(data[:4096])
    page = _Page(Outline(into))
    page.feed(decode(data, declared[1].decode("ascii") if declared else ""))
    page.close()
    page.end()


def html_text(data: bytes | str) -> tuple[str, str]:
    """Return a page's text without dividing it, and its title or first heading."""
    words = _Words()
    page = _Page(words)
    page.feed(data if isinstance(data, str) else decode(data))
    page.close()
    page.end()
    return "".join(words.parts), page.title or words.first


class _Words:
    """Collects a page's text as a whole."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.first = ""

    def write(self, text: str) -> None:
        self.parts.append(text)

    def heading(self, title: str) -> None:
        self.first = self.first or title
        self.parts.append(f"\n\n{title}\n\n")

    def end(self) -> None:
        """Nothing is left to be added."""


class _Page(HTMLParser):
    """Writes what a page shows; no depth of tags costs more than a count."""

    def __init__(self, out: Outline | _Words) -> None:
        super().__init__(convert_charrefs=True)
        self.title = ""
        self._out = out
        self._hidden: list[str] = []
        self._in_title = False
        self._as_it_is = self._raised = 0
        self._heading: list[str] | None = None
        self._line: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title" and "svg" not in self._hidden
        self._hide(tag, attrs)
        if self._hidden:
            return
        if tag in _BLOCKS or tag == "br":
            self._break(spaced=tag in _SPACED)
        if tag in _HEADINGS:
            self._heading = []
        elif tag == "pre":
            self._as_it_is += 1
        elif tag == "sup":
            self._raised += 1
        elif tag == "li":
            self._line.append("- ")
        elif tag in {"td", "th"} and self._line:
            self._line.append(" | ")

    def _hide(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note that an element begins that is not shown, or one that lies in such a one."""
        if tag == "body":
            self._hidden.clear()  # a head need not be closed
        if self._hidden[-1:] == [tag] and tag in _SELDOM_CLOSED:
            self._hidden.pop()
        if tag in _HIDDEN or tag in self._hidden or _is_hidden(tag, attrs):
            self._hidden.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in self._hidden:
            last = len(self._hidden) - 1 - self._hidden[::-1].index(tag)
            del self._hidden[last:]
            return
        if self._hidden:
            return
        if tag in _HEADINGS and self._heading is not None:
            title = _SPACES.sub(" ", "".join(self._heading)).strip()
            self._heading = None
            if title:
                self._out.heading(title)
        elif tag in _BLOCKS:
            self._break(spaced=tag in _SPACED)
        if tag == "pre" and self._as_it_is:
            self._as_it_is -= 1
        if tag == "sup" and self._raised:
            self._raised -= 1

    def handle_data(self, data: str) -> None:
        if self._raised:
            data = raised(data)
        if self._in_title:
            self.title = self.title or " ".join(data.split())
        elif self._hidden:
            return
        elif self._heading is not None:
            self._heading.append(data)
        else:
            self._line.append(data if self._as_it_is else _SPACES.sub(" ", data))

    def end(self) -> None:
        """Write what is still in hand."""
        self._break(spaced=False)
        self._out.end()

    def _break(self, *, spaced: bool) -> None:
        if self._heading is not None:
            self._line, self._heading = self._heading, None  # a heading that was never closed
        line = "".join(self._line)
        if not self._as_it_is:
            line = re.sub(" {2,}", " ", line).strip()
        self._line = []
        if line.strip():
            self._out.write(line + "\n")
        if spaced:
            self._out.write("\n")


def _is_hidden(tag: str, attributes: list[tuple[str, str | None]]) -> bool:
    """Tell whether an element says that nobody is to see it."""
    values = dict(attributes)
    return tag not in _NEVER_CLOSED and (
        "hidden" in values or bool(_NOT_SHOWN.search(values.get("style") or ""))
    )
