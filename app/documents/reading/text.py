"""Reads text, source code, CSV and Markdown."""

from __future__ import annotations

import re
from typing import Final

from app.documents.reading.collected import Collected, Outline
from app.documents.reading.encodings import decode
from app.documents.values.documents import DocumentKind, LocationKind

_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")


def read_text(data: bytes, kind: DocumentKind, into: Collected) -> None:
    """Read a text as a whole, or Markdown divided at its headings. Raises Unreadable."""
    text = decode(data)
    if kind is not DocumentKind.MARKDOWN:
        into.add(LocationKind.WHOLE, text)
        return
    outline, fence = Outline(into), ""
    for line in text.splitlines(keepends=True):
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        found = None if fence else _HEADING.match(line.rstrip("\n"))
        if found:
            outline.heading(found[1])
        else:
            outline.write(line)
    outline.end()
