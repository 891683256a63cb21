"""Limits that keep hostile markdown affordable, without losing any of its text."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

NESTING = 18
"""Levels of quotations, and half as many lists; what lies deeper is shown as it is written.

Less than the parser's own limit, which also bounds what brackets in brackets cost.
"""
COLUMNS = 30
CELLS = 1_500
"""A table with more is shown as it is written: Qt lays a table out as a whole."""


def limits_plugin(markdown: MarkdownIt) -> None:
    """Turn what is nested too deep, which the parser leaves out, into plain paragraphs."""
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
