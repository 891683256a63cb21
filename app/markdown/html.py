"""The writing of blocks as HTML in which everything is escaped and nothing loads from elsewhere.

It uses only tags that both browsers and Qt's text documents know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape

from app.markdown.blocks import (
    SIGNS,
    Block,
    BlockPlace,
    Code,
    Formula,
    Paragraph,
    Rule,
    Span,
    Table,
)
from app.markdown.direction import is_right_to_left
from app.markdown.highlight import Piece, highlight
from app.markdown.spans import LINE_BREAK, is_openable

DrawFormula = Callable[[str, bool], str]
"""A function that returns HTML for a formula in LaTeX, inline or not; "" if it cannot be drawn."""

_INDENT = 26
"""Pixels per level of lists."""
_DEEPEST = 8


def html_of(blocks: Iterable[Block], draw: DrawFormula, heading: int = 2) -> str:
    """Return blocks as HTML.

    Args:
        draw: Draws a formula.
        heading: Level of the heading above the text; the text's own headings are below it.
    """
    return "\n".join(_quoted(_block(block, draw, heading), block.place) for block in blocks)


def plain_formula(latex: str) -> str:
    """Return HTML with the source of a formula that is not drawn."""
    return f'<code class="formula">{escape(latex)}</code>'


def _block(block: Block, draw: DrawFormula, heading: int) -> str:
    match block:
        case Code():
            return f'<pre class="code"{_margin(block.place)}>{_code(block)}</pre>'
        case Formula():
            drawn = draw(block.text, False) or plain_formula(block.text)
            return f'<p class="display"{_margin(block.place)}>{drawn}</p>'
        case Table():
            return _table(block, draw)
        case Rule():
            return "<hr>"
        case Paragraph():
            return _paragraph(block, draw, heading)


def _paragraph(block: Paragraph, draw: DrawFormula, heading: int) -> str:
    tag = f"h{min(6, heading + block.heading)}" if block.heading else "p"
    rtl = is_right_to_left(block.spans)
    words = _spans(block.spans, draw, rtl=rtl)
    place = block.place
    number = f'<span class="marker">{escape(place.marker)}</span>&#160; ' if place.marker else ""
    note = f"<sup>{escape(place.note)}</sup>&#160;" if place.note else ""
    direction = ' dir="rtl"' if rtl else ""
    tight = ' class="tight"' if place.tight else ""
    return f"<{tag}{tight}{direction}{_margin(place)}>{number}{note}{words}</{tag}>"


def _margin(place: BlockPlace) -> str:
    indent = min(place.indent, _DEEPEST)
    return f' style="margin-left:{indent * _INDENT}px"' if indent else ""


def _quoted(html: str, place: BlockPlace) -> str:
    depth = min(place.quote, _DEEPEST)
    return f"{'<blockquote>' * depth}{html}{'</blockquote>' * depth}"


def _spans(spans: Sequence[Span], draw: DrawFormula, *, rtl: bool = False) -> str:
    """Return spans as HTML.

    Args:
        rtl: Whether the words run right to left; code among them does not.
    """
    return "".join(_span(span, draw, rtl=rtl) for span in spans)


def _span(span: Span, draw: DrawFormula, *, rtl: bool) -> str:
    if span.math:
        return draw(span.text, span.math == "inline") or plain_formula(span.text)
    if span.note:
        return f"<sup>{escape(span.note)}</sup>"
    html = escape(span.text).replace(LINE_BREAK, "<br>")
    for applies, tag in (
        (span.code, "code"),
        (span.bold, "strong"),
        (span.italic or bool(span.picture), "em"),
        (span.strike, "s"),
    ):
        if applies:
            direction = ' dir="ltr"' if rtl and tag == "code" else ""
            html = f"<{tag}{direction}>{html}</{tag}>"
    if span.href and is_openable(span.href):
        html = f'<a href="{escape(span.href)}" rel="noreferrer noopener">{html}</a>'
    if span.quote:
        html = f'<span class="{span.mark}">{html}</span>'
        if span.ends:
            html += f'<sup class="{span.mark}">{SIGNS[span.mark]}</sup>'
    return html


def _table(table: Table, draw: DrawFormula) -> str:
    lines = []
    for number, row in enumerate(table.rows):
        tag = "td" if number else "th"
        cells = (
            f'<{tag} align="{align}">{_spans(spans, draw)}</{tag}>'
            for spans, align in zip(row, table.align, strict=True)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<table cellspacing="0" cellpadding="6">{"".join(lines)}</table>'


def _code(block: Code) -> str:
    coloured = list(highlight(block.text, block.language))
    lines = block.text.split("\n")
    if len(coloured) < len(lines):
        return escape(block.text)
    return "\n".join(_line(line, pieces) for line, pieces in zip(lines, coloured, strict=False))


def _line(line: str, pieces: Sequence[Piece]) -> str:
    html, place = "", 0
    for start, length, kind in pieces:
        words = escape(line[start : start + length])
        html += f'{escape(line[place:start])}<span class="{kind}">{words}</span>'
        place = start + length
    return html + escape(line[place:])
