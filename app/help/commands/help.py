"""`hearth help`: prints the guides, laid out for a terminal."""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from app.base.shipped import GUIDES
from app.help.services.guides import Guides
from app.help.values.guides import Guide
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, table
from app.markdown.blocks import Block, Code, Formula, Paragraph, Span, Table
from engines.sentences import N_

_WIDEST = 100
"""In columns. Longer lines are hard to read, however wide the terminal is."""
_NARROWEST = 24
_NARROWEST_COLUMN = 6
"""The smallest width of a table's column, in characters."""
_COLUMN_GAP = "  "
_GUIDE = re.compile(r"([\w-]+)\.md")
_BOLD, _NORMAL = "\x1b[1m", "\x1b[0m"


def show_help(args: argparse.Namespace, out: Output) -> int:
    """Print one guide, or the list of guides. Raises GuideUnknown or GuidesUnreadable."""
    guides = Guides(GUIDES)
    if args.topic is None:
        topics = [
            {"topic": guide.topic, "title": guide.title, "summary": guide.summary}
            for guide in guides.all
        ]
        out.value(topics, lambda: _list(guides.all))
        return 0
    guide = guides.guide(args.topic)
    out.value(
        {"topic": guide.topic, "title": guide.title, "text": guide.text},
        lambda: lay_out(guides.blocks(guide), _width(), bold=out.may_be_bold),
        trusted=True,
    )
    return 0


def lay_out(blocks: Sequence[Block], width: int, *, bold: bool) -> str:
    """Lay out markdown blocks in lines of at most `width` characters; code can be longer.

    Args:
        bold: Print headings in bold, by a control sequence, instead of underlining them.
    """
    lines: list[str] = []
    for block in blocks:
        if lines and not block.place.tight:
            lines.append("")
        if isinstance(block, Paragraph) and block.heading:
            lines += _heading(block, width, bold)
        else:
            lines += _block(block, width)
    return "\n".join(lines)


def _heading(block: Paragraph, width: int, bold: bool) -> Iterator[str]:
    lines = textwrap.wrap(_words(block.spans), width)
    if bold:
        yield from (f"{_BOLD}{line}{_NORMAL}" for line in lines)
    else:
        yield from lines
        yield ("=" if block.heading == 1 else "-") * max(map(len, lines), default=0)


def _block(block: Block, width: int) -> Iterator[str]:
    place = block.place
    indent = "  " * place.indent + "> " * place.quote
    if isinstance(block, Paragraph):
        first_indent = (
            f"{indent[: -len(place.marker) - 1]}{place.marker} " if place.marker else indent
        )
        yield from textwrap.wrap(
            _words(block.spans, "`"),
            width,
            initial_indent=first_indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        ) or [first_indent.rstrip()]
    elif isinstance(block, Code | Formula):
        yield from (f"{indent}    {line}".rstrip() for line in block.text.split("\n"))
    elif isinstance(block, Table):
        yield from _table(block, width)
    else:
        yield "-" * width


def _table(block: Table, width: int) -> Iterator[str]:
    rows = [[_words(cell) for cell in row] for row in block.rows]
    widths = _widths(rows, width)
    for number, row in enumerate(rows):
        cells = [
            textwrap.wrap(cell, column_width, break_on_hyphens=False) or [""]
            for cell, column_width in zip(row, widths, strict=True)
        ]
        for line in zip_longest(*cells, fillvalue=""):
            parts = (
                part.ljust(column_width) for part, column_width in zip(line, widths, strict=True)
            )
            yield _COLUMN_GAP.join(parts).rstrip()
        if number == 0:
            yield _COLUMN_GAP.join("-" * column_width for column_width in widths)


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of the columns; the widest ones shrink until all fit."""
    widths = [max(1, *(len(row[column]) for row in rows)) for column in range(len(rows[0]))]
    room = width - len(_COLUMN_GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    return widths


def _words(spans: Sequence[Span], quote: str = "") -> str:
    """Join spans as plain text.

    Args:
        quote: Put around code.
    """
    return "".join(_span(span, quote) for span in spans)


def _span(span: Span, quote: str) -> str:
    if span.href and span.href != span.text:
        guide = _GUIDE.match(span.href)
        return N_(
            "{text} ({quote})",
            text=span.text,
            quote=N_("{quote}hearth help {guide}{quote}", quote=quote, guide=guide[1])
            if guide
            else span.href,
        )
    return f"{quote}{span.text}{quote}" if span.code else span.text


def _list(guides: Sequence[Guide]) -> str:
    rows = table([(guide.topic, guide.summary) for guide in guides])
    return N_(
        "{rows}\n\n`hearth help TOPIC` shows one of them; `hearth --help` lists the commands.",
        rows=rows,
    )


def _width() -> int:
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))


COMMAND = Command(
    "help",
    "show a guide, or list the guides",
    run_closed=lambda _, args, out: show_help(args, out),
    arguments=(
        Argument(
            "topic",
            N_("the guide, such as models or privacy; without it, all are listed"),
            nargs="?",
            metavar="TOPIC",
            offers="guides",
        ),
    ),
)
