"""Reads the text of HTML as a browser would show it, without its style."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Final

from app.documents.collected import Collected, Outline
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
        self._as_it_is = 0
        self._heading: list[str] | None = None
        self._line: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._in_title = tag == "title" and "svg" not in self._hidden
        if tag == "body":
            self._hidden.clear()  # a head need not be closed
        if tag in _HIDDEN:
            self._hidden.append(tag)
        if self._hidden:
            return
        if tag in _BLOCKS or tag == "br":
            self._break(spaced=tag in _SPACED)
        if tag in _HEADINGS:
            self._heading = []
        elif tag == "pre":
            self._as_it_is += 1
        elif tag == "li":
            self._line.append("- ")
        elif tag in {"td", "th"} and self._line:
            self._line.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]
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

    def handle_data(self, data: str) -> None:
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
