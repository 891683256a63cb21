"""Limits that bound the cost of hostile markdown, without losing any of its text."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

NESTING = 18
"""The deepest nesting of quotations; lists can nest half as deep. Deeper text is shown as written.

This is below the parser's own limit, which also bounds the cost of nested brackets.
"""
COLUMNS = 30
CELLS = 1_500
"""The most cells of a table. A larger one is shown as written: Qt lays a table out as a whole."""


def limits_plugin(markdown: MarkdownIt) -> None:
    """Turn text that is nested too deep, which the parser would drop, into plain paragraphs."""
    markdown.block.ruler.before("table", "too_deep", _too_deep)


def _too_deep(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    if silent or state.level < NESTING:
        return False
    after = first + 1
    while after < end and state.sCount[after] >= state.blkIndent and not state.isEmpty(after):
        after += 1
    token = state.push("paragraph_open", "p", 1)
    token.map = [first, after]
    inline = state.push("inline", "", 0)
    inline.map, inline.children = [first, after], []
    inline.content = state.getLines(first, after, state.blkIndent, False).strip()
    state.push("paragraph_close", "p", -1)
    state.line = after
    return True
