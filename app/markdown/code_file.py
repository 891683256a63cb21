"""The name of the file that a block of code is saved as."""

from __future__ import annotations

import re

from app.markdown.blocks import Code

_NAMED = re.compile(r"(?:title|file(?:name)?)=[\"']?([^\"']+?)[\"']?$")
_LOOKS_LIKE_ONE = re.compile(r"[\w-][\w.-]*\.\w{1,8}")


def name_in(words: list[str]) -> str:
    """Return the file name among the words after a fence: app.py, title="app.py", py:app.py."""
    for word in words:
        named = _NAMED.fullmatch(word)
        # If a path is given, only its last part is the name.
        last = re.split(r"[/\\:]", named[1] if named else word)[-1]
        if _LOOKS_LIKE_ONE.fullmatch(last):
            return last
    return ""


def file_name_of(code: Code) -> str:
    """Return the name that the text gives, or else one with the language's file extension."""
    return code.name or f"code{_ending(code.language)}"


def _ending(language: str) -> str:
    from pygments.lexers import find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        patterns = find_lexer_class_by_name(language).filenames if language else []
    except ClassNotFound:
        patterns = []
    endings = [pattern[1:] for pattern in patterns if re.fullmatch(r"\*\.\w+", pattern)]
    return endings[0] if endings else ".txt"
