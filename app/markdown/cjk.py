"""Bold and italic in Chinese, Japanese and Korean, which are written without spaces.

CommonMark distinguishes opening from closing marks by the spaces and punctuation around them. So
the marks stay visible in “**「重要」**です”, which models write all the time. Next to such a script
only the inner side of a mark is considered here.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter, Scanned

_SCRIPT = re.compile(
    "[\u1100-\u11ff\u2e80-\u2fdf\u3000-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)


def cjk_plugin(markdown: MarkdownIt) -> None:
    """Add the rule for these scripts to a parser."""
    markdown.inline.ruler.before("emphasis", "cjk_emphasis", _emphasis)


def _emphasis(state: StateInline, silent: bool) -> bool:
    """Parse a run of asterisks that has such a script on one of its sides."""
    if silent or state.src[state.pos] != "*":
        return False
    usual = state.scanDelims(state.pos, True)
    before = state.src[state.pos - 1] if state.pos else " "
    end = state.pos + usual.length
    after = state.src[end] if end < state.posMax else " "
    if not (_SCRIPT.match(before) or _SCRIPT.match(after)):
        return False
    _push(state, _judged(usual, before, after))
    return True


def _judged(usual: Scanned, before: str, after: str) -> Scanned:
    can_open = usual.can_open or bool(_SCRIPT.match(before) and not after.isspace())
    can_close = usual.can_close or bool(_SCRIPT.match(after) and not before.isspace())
    return Scanned(can_open, can_close, usual.length)


def _push(state: StateInline, scanned: Scanned) -> None:
    for _ in range(scanned.length):
        token = state.push("text", "", 0)
        token.content = "*"
        state.delimiters.append(
            Delimiter(
                marker=ord("*"),
                length=scanned.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=scanned.can_open,
                close=scanned.can_close,
            )
        )
    state.pos += scanned.length
