"""The colouring of code: the keywords, strings, comments and so on of each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

Kind = Literal["keyword", "string", "number", "comment", "name", "operator"]
Piece = tuple[int, int, Kind]
"""The start and the length of a piece in code points, and its kind."""

MAX_CHARACTERS = 30_000
MAX_LINE = 1_000
"""The most characters of a line.

Code with longer lines, or with more than MAX_CHARACTERS, stays plain, since a lexer's regular
expressions may never finish on hostile input.
"""

_KINDS: tuple[tuple[tuple[str, ...], Kind], ...] = (
    (("Comment",), "comment"),
    (("Literal", "String"), "string"),
    (("Literal", "Number"), "number"),
    (("Keyword",), "keyword"),
    (("Operator", "Word"), "keyword"),
    (("Operator",), "operator"),
    (("Name", "Function"), "name"),
    (("Name", "Class"), "name"),
    (("Name", "Tag"), "name"),
    (("Name", "Decorator"), "name"),
    (("Name", "Builtin"), "name"),
)


def highlight(code: str, language: str) -> Iterator[tuple[Piece, ...]]:
    """Yield the coloured pieces of one line after the other; nothing for an unknown language.

    This is lazy, so that long code can be coloured in steps.
    """
    if not language or len(code) > MAX_CHARACTERS or len(max(code.split("\n"), key=len)) > MAX_LINE:
        return
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return
    line: list[Piece] = []
    column = 0
    for _, token, text in lexer.get_tokens_unprocessed(code):
        kind = _kind(tuple(token))
        for number, part in enumerate(text.split("\n")):
            if number:
                yield tuple(line)
                line, column = [], 0
            if kind and part.strip():
                line.append((column, len(part), kind))
            column += len(part)
    yield tuple(line)


def _kind(token: tuple[str, ...]) -> Kind | None:
    return next((kind for above, kind in _KINDS if token[: len(above)] == above), None)
