"""How much a grammar may take, where it is tried and where it is followed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from llguidance import LLParserLimits

CPU_S: Final = 3
"""Seconds on the processor to read a grammar; most take milliseconds."""
MEMORY_BYTES: Final = 512 << 20
"""Memory of the process in which it is tried."""

_GRAMMAR_SIZE: Final = 30_000
"""Symbols: some 3000 properties."""
_LEXER_STATES: Final = 50_000
"""About a kilobyte each."""


@cache
def parser_limits() -> LLParserLimits:
    """Return the limits of llguidance: its own, but for the size of a grammar and of its states."""
    from llguidance import LLParserLimits

    return LLParserLimits(
        max_grammar_size=_GRAMMAR_SIZE,
        max_lexer_states=_LEXER_STATES,
        precompute_large_lexemes=False,
        verbose_errors=False,
    )
