r"""Formulas in markdown: $…$ and \(…\) inline, $$…$$ and \[…\] in full height.

LaTeX's own formula environments, such as \begin{align}, count on lines of their own.

A dollar sign is far more often money than maths, so the text between two of them must look like a
formula. All searching is bounded: hostile text costs no more than its length.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

_MOST_INLINE = 2_000
_MOST_LINES = 100
"""The most lines of a formula; a longer one stays text, since it would not fit on any page."""

COMPLETE = "complete"
"""The key in a parser's `env` which says that the text will not grow any more."""
_BLOCKS = {"$$": "$$", "\\[": "\\]"}
_ENVIRONMENT = re.compile(r"\\begin(\{(?:align(?:at)?|equation|gather|multline|eqnarray)\*?\})")
_WORD = re.compile(r"[0-9A-Za-z]")
_MARKS = re.compile(r"[\\^_={}<>]")
_PROSE = re.compile(r"(?:^|\s)\W?[A-Za-z]{2,}\W?(?=\s|$)")


def maths_plugin(markdown: MarkdownIt) -> None:
    """Add tokens `math_inline` (markup "display" for full height) and `math_block`.

    A `math_block` whose end is not written has no markup.
    """
    ended = ["paragraph", "reference", "blockquote", "list"]
    markdown.block.ruler.before("fence", "math_block", _block, {"alt": ended})
    markdown.inline.ruler.before("escape", "math_inline", _inline)


def _block(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Parse a formula, which ends before an empty line or is still open in growing text."""
    if state.is_code_block(first):
        return False
    start = state.bMarks[first] + state.tShift[first]
    environment = _ENVIRONMENT.match(state.src, start, state.eMarks[first])
    close = _BLOCKS.get(state.src[start : start + 2])
    if environment is not None:
        close = f"\\end{environment[1]}"
    if close is None:
        return False
    if silent:
        return True  # growing text must not change: this always begins a block
    opening = 0 if environment else 2
    lines = [state.src[start + opening : state.eMarks[first]].rstrip()]
    after = first + 1
    while close not in lines[-1] and after < min(end, first + _MOST_LINES):
        if state.isEmpty(after) or state.sCount[after] < state.blkIndent:
            return False
        begin = state.bMarks[after] + state.tShift[after]
        lines.append(state.src[begin : state.eMarks[after]].rstrip())
        after += 1
    if close not in lines[-1]:
        may_grow = after == end == state.lineMax and not state.env.get(COMPLETE)
        return may_grow and _push(state, first, after, lines, "")
    last, _, behind = lines[-1].partition(close)
    if environment:
        last += close  # part of the formula
    return not behind and _push(state, first, after, [*lines[:-1], last], "closed")


def _push(state: StateBlock, first: int, after: int, lines: list[str], markup: str) -> bool:
    text = "\n".join(lines).strip()
    if markup and not text:
        return False
    token = state.push("math_block", "math", 0)
    token.content, token.markup, token.map = text, markup, [first, after]
    state.line = after
    return True


def _inline(state: StateInline, silent: bool) -> bool:
    formula = _formula(state.src, state.pos, state.posMax)
    if formula is None:
        return False
    text, length, style = formula
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.content, token.markup = text, style
    state.pos += length
    return True


def _formula(text: str, start: int, end: int) -> tuple[str, int, str] | None:
    """Return the formula that begins here: source, length with delimiters, and style."""
    opening = text[start : start + 2]
    if opening in {"\\(", "\\[", "$$"}:
        close = {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}[opening]
        stop = text.find(close, start + 2, min(end, start + _MOST_INLINE))
        inner = text[start + 2 : stop].strip() if stop > 0 else ""
        style = "inline" if opening == "\\(" else "display"
        return (inner, stop + 2 - start, style) if _WORD.search(inner) else None
    if opening[:1] != "$":
        return None
    stop = _closing(text, start + 1, min(end, start + _MOST_INLINE))
    inner = text[start + 1 : stop]
    before, after = text[max(0, start - 1) : start], text[stop + 1 : min(end, stop + 2)]
    if stop < 0 or not _is_formula(inner, before, after):
        return None
    return inner, stop + 1 - start, "inline"


def _closing(text: str, start: int, end: int) -> int:
    """Return the position of the next dollar that is not escaped, or -1."""
    place = text.find("$", start, end)
    while place > 0 and text[place - 1] == "\\":
        place = text.find("$", place + 1, end)
    return place


def _is_formula(inner: str, before: str, after: str) -> bool:
    """Return whether the text between two dollars is maths, not money or a shell variable."""
    if not inner or inner[0].isspace() or inner[-1].isspace() or "`" in inner:
        return False
    if _WORD.match(before) or (after.isascii() and after.isdigit()):
        return False
    sure = len(inner) == 1 or bool(re.search(r"[\\^]|_[0-9{]", inner))
    if _WORD.match(after) and not sure:
        return False
    return bool(_MARKS.search(inner)) or not _PROSE.search(inner)
