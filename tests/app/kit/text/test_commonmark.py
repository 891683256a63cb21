"""The examples of the CommonMark specification, as a reader sees them."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from app.kit.look.theme import LIGHT
from app.kit.text.document_writer import DocumentWriter
from app.kit.text.formats import TextFormats
from app.markdown.parser import Parser
from tests.support.commonmark import Example, examples, seen, squeezed

_FEWEST = 600


@pytest.fixture(scope="module")
def specification(request: pytest.FixtureRequest) -> list[Example]:
    assert request.config.cache is not None
    folder = Path(request.config.cache.mkdir("commonmark"))
    try:
        return examples(folder)
    except OSError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the specification cannot be fetched: {error}")


def shown(markdown: str) -> str:
    """Return the text of the document without white space."""
    document = QTextDocument()
    writer = DocumentWriter(document, TextFormats(LIGHT, 14), lambda _code: None, 1.0)
    writer.show(Parser().parse(markdown))
    return squeezed(document.toPlainText())


def raw_html(markdown: str) -> list[str]:
    """Return the pieces of HTML in a text; Hearth shows them as text."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    every = [part for token in tokens for part in (token, *(token.children or []))]
    return [token.content for token in every if token.type in {"html_block", "html_inline"}]


def test_every_example_without_html_reads_as_its_page(
    qapp: QApplication, specification: list[Example]
) -> None:
    plain = [it for it in specification if not raw_html(it.markdown)]
    wrong = [
        (it.number, it.section, shown(it.markdown), seen(it.html))
        for it in plain
        if shown(it.markdown) != seen(it.html)
    ]
    assert wrong == []
    assert len(specification) > _FEWEST


def test_html_is_shown_as_text(qapp: QApplication, specification: list[Example]) -> None:
    """Every letter of the HTML is shown; marks such as * and & between tags keep their meaning."""
    pieces = [(it.markdown, piece) for it in specification for piece in raw_html(it.markdown)]
    lost = [
        (markdown, piece)
        for markdown, piece in pieces
        if not _holds(shown(markdown), re.findall(r"\w+", html.unescape(_markup(piece))))
    ]
    assert lost == []
    assert len(pieces) > 50


def _markup(piece: str) -> str:
    """Remove the addresses of links, which are Markdown within HTML and are not shown."""
    return re.sub(r"\]\(.*?\)|\]\[.*?\]", "", piece)


def _holds(text: str, words: list[str]) -> bool:
    """Return True if a text contains all words in this order."""
    place = 0
    for word in words:
        for part in filter(None, word.split("_")):
            place = text.find(part, place)
            if place < 0:
                return False
            place += len(part)
    return True
