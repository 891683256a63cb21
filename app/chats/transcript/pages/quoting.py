"""Quotations in markdown from the selection in a message; code stays code."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import QTextBlock, QTextCursor

from app.kit.text.formats import CODE_ID
from app.kit.text.long_lines import joined
from app.kit.text.selected_text import line_of
from app.markdown.spans import LINE_BREAK


def quotation(text: str) -> str:
    """Return markdown as a quotation, followed by an empty line."""
    lines = text.strip("\n").split("\n")
    return "".join(f"> {line}".rstrip() + "\n" for line in lines) + "\n"


def selected_markdown(cursor: QTextCursor) -> str:
    """Return the selection as markdown with fenced code blocks.

    The label over a code block is not part of the message: it becomes the language of the fence.
    """
    parts: list[str] = []
    code: list[str] = []
    language, inside = "", 0

    def close() -> None:
        if code:
            body = "\n".join(code)
            fence = "`" * max(3, _longest_ticks(body) + 1)
            parts.append(f"{fence}{language}\n{body}\n{fence}")
        code.clear()

    for block, text in _lines(cursor):
        code_id = block.blockFormat().property(CODE_ID) or 0
        if code_id != inside:
            close()
            inside = code_id
            language = _label_of(block, code_id) if code_id else ""
        if not code_id:
            parts.append(text)
        elif not _is_label(block, code_id):
            code.append(text)
    close()
    return joined("\n".join(parts)).strip("\n")


def _lines(cursor: QTextCursor) -> Iterator[tuple[QTextBlock, str]]:
    """Yield each block of a selection with the selected part of its text."""
    first, last = cursor.selectionStart(), cursor.selectionEnd()
    block = cursor.document().findBlock(first)
    while block.isValid() and block.position() <= last:
        start = max(0, first - block.position())
        end = min(block.length() - 1, last - block.position())
        yield block, line_of(block, start, end).replace(LINE_BREAK, "\n")
        block = block.next()


def _is_label(block: QTextBlock, code_id: object) -> bool:
    previous = block.previous()
    return not previous.isValid() or previous.blockFormat().property(CODE_ID) != code_id


def _label_of(block: QTextBlock, code_id: object) -> str:
    while not _is_label(block, code_id):
        block = block.previous()
    label = block.text()
    return "" if label == "text" else label


def _longest_ticks(text: str) -> int:
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def plain_text(cursor: QTextCursor) -> str:
    """Return the selection as plain text, without markup and without labels over code."""
    lines = []
    for block, text in _lines(cursor):
        code_id = block.blockFormat().property(CODE_ID) or 0
        if not code_id or not _is_label(block, code_id):
            lines.append(text)
    return "\n".join(lines).strip("\n")
