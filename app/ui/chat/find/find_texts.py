"""What a reader sees of a message, and where in it the words stand that one looks for."""

from __future__ import annotations

from app.core.chats.conversation import StoredMessage
from app.core.search.folding import fold, fold_each
from app.markdown.blocks import Block, Code, Formula, Paragraph, Span, Table
from app.markdown.parser import Parser

Marks = tuple[tuple[int, int], ...]
"""Where words begin and end in a text, in characters; from its beginning on."""


def text_of(message: StoredMessage, parser: Parser) -> str:
    """The text of a message without the signs of markdown; what the user wrote has none."""
    if message.role == "user":
        return message.text
    return "\n".join(_text(block) for block in parser.parse(message.text))


def occurrences(text: str, words: str) -> Marks:
    """Where the words stand, whatever their case and accents; no two overlap."""
    wanted = fold(words).strip()
    if not wanted:
        return _exactly(text, words.strip())
    if wanted not in fold(text):
        return ()
    folded, places = fold_each(text)
    found: list[tuple[int, int]] = []
    at = folded.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        found.append((places[at], places[end - 1] + 1))
        at = folded.find(wanted, end)
    return tuple(found)


def _exactly(text: str, words: str) -> Marks:
    """Words of signs only, such as an arrow, which folding takes away."""
    found: list[tuple[int, int]] = []
    at = text.find(words) if words else -1
    while at >= 0:
        found.append((at, at + len(words)))
        at = text.find(words, at + len(words))
    return tuple(found)


def _text(block: Block) -> str:
    if isinstance(block, Paragraph):
        return _joined(block.spans)
    if isinstance(block, Code | Formula):
        return block.text
    if isinstance(block, Table):
        return "\n".join(_joined(cell) for row in block.rows for cell in row)
    return ""


def _joined(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)
