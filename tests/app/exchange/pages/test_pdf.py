"""The pages of a chat in PDF."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSizeF
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from app.exchange.pages.pdf import keep_lines_whole
from app.markdown.html import html_of
from app.markdown.parser import Parser

PAGE = 972.0
STYLE = "<style>p { margin: 4px 0 8px 0; } table { margin: 8px 0 10px 0; }</style>"
TABLE = html_of(Parser().parse("| a | b |\n|---|---|\n| x | y |\n| c | d |"), lambda *_: "")


def pages_of_last_line(document: QTextDocument) -> tuple[int, int]:
    """Return the pages on which the first line of the last block begins and ends."""
    document.pageCount()
    layout = document.lastBlock().layout()
    top = layout.position().y() + layout.lineAt(0).y()
    bottom = top + layout.lineAt(0).height()
    return int(top // PAGE), int((bottom - 0.1) // PAGE)


@pytest.mark.parametrize("last", ["A word", '<img width="20" height="60">'])
def test_a_line_after_a_table_at_the_end_of_a_page_is_not_cut(
    qapp: QApplication, last: str
) -> None:
    """A formula is a picture: its tip was on the page before."""
    cut = 0
    for above in range(820, 880):
        document = QTextDocument()
        document.setDocumentMargin(0)
        document.setPageSize(QSizeF(641, PAGE))
        document.setHtml(
            f'{STYLE}<p style="margin-bottom: {above}px">First</p>\n'
            f'<p><img width="8" height="7"></p>\n{TABLE}\n<p>{last}</p>'
        )
        begins, ends = pages_of_last_line(document)
        cut += begins < ends
        keep_lines_whole(document)
        begins, ends = pages_of_last_line(document)
        assert begins == ends, above
    assert cut, "Qt has mended this: the function can go"
