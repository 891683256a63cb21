"""The limits of a grammar, both where it is tried and where it is followed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from llguidance import LLParserLimits

CPU_S: Final = 3
"""Processor seconds allowed for reading a grammar; most take milliseconds."""
MEMORY_BYTES: Final = 512 << 20
"""Memory allowed for the process that tries grammars."""

_GRAMMAR_SIZE: Final = 30_000
"""The most symbols in a grammar, enough for about 3000 properties."""
_LEXER_STATES: Final = 50_000
"""The most states; each takes about a kilobyte."""


@cache
def parser_limits() -> LLParserLimits:
    """Return llguidance's own limits, except for the size of a grammar and of its states."""
    from llguidance import LLParserLimits

    return LLParserLimits(
        max_grammar_size=_GRAMMAR_SIZE,
        max_lexer_states=_LEXER_STATES,
        precompute_large_lexemes=False,
        verbose_errors=False,
    )
