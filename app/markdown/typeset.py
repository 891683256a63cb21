"""The typesetting of a formula in LaTeX as a picture (SVG), with ziamath; free of Qt.

ziamath takes twice as long for each level of brackets. So the work for a formula is estimated
first, and one that could take longer than about a second is not set at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MOST_WORK = 10_000
"""The most work for a formula.

The unit is about 0.1 ms on a slow core: a character, doubled for each level that it is in.
"""
_LARGEST = 4_000.0
"""The largest width and height in pixels; a larger formula cannot be read in a chat."""

_DEEPER = re.compile(r"\\(?:left|begin)(?![A-Za-z])|(?<!\\)\{")
_LESS_DEEP = re.compile(r"\\(?:right|end)(?![A-Za-z])|(?<!\\)\}")
_LABELS = re.compile(r"\\(?:label|tag)\{[^{}]*\}|\\(?:nonumber|notag)(?![A-Za-z])")

_ENVIRONMENT = re.compile(
    r"\\(begin|end)\{(equation|gather|multline|eqnarray|alignat)\*?\}(?:\{\d\})?"
)
_ALIKE = {"multline": "gather", "eqnarray": "align", "alignat": "align"}
"""Environments that ziamath does not know, and ones that look like them."""


@dataclass(frozen=True)
class SetFormula:
    """A formula as SVG. Lengths are in pixels.

    Attributes:
        descent: The part of `height` below the baseline.
    """

    svg: bytes
    width: float
    height: float
    descent: float


def typeset(latex: str, size: float, colour: str, *, inline: bool) -> SetFormula | None:
    """Typeset a formula; return None if that fails and its source should be shown instead.

    Args:
        size: Font size in pixels.
    """
    latex = _ENVIRONMENT.sub(_alike, _LABELS.sub("", latex)).strip()
    if not latex or work_for(latex) > _MOST_WORK:
        return None
    from ziamath.config import config
    from ziamath.zmath import Latex

    config.svg2 = False  # draws each glyph in place: Qt does not draw SVG's symbols
    try:
        formula = Latex(latex, size=size, color=colour, inline=inline)
        width, height = formula.getsize()
        descent = -formula.getyofst()
        svg = formula.svg().encode()
    except Exception:  # noqa: BLE001 - ziamath raises errors of any kind for what it cannot read
        return None
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST):
        return None
    return SetFormula(svg, width, height, descent)


def _alike(match: re.Match[str]) -> str:
    return f"\\{match[1]}{{{_ALIKE.get(match[2], match[2])}}}"


def work_for(latex: str) -> int:
    """Estimate the work for a formula, in the unit of `_MOST_WORK`."""
    changes = [(match.start(), 1) for match in _DEEPER.finditer(latex)]
    changes += [(match.start(), -1) for match in _LESS_DEEP.finditer(latex)]
    work, depth, last = 0, 0, 0
    for place, change in [*sorted(changes), (len(latex), 0)]:
        work += (place - last) << min(depth, 20)
        depth, last = max(0, depth + change), place
    return work
