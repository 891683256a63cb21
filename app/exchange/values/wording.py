"""Placeholders for content that Hearth cannot show, and the split of reasoning from text."""

from __future__ import annotations

import re

_THINK = re.compile(r"\A\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)\s*", re.DOTALL)


def picture(name: str = "") -> str:
    """Return a sentence that replaces a picture."""
    return f"*A picture was here: {name}.*" if name else "*A picture was here.*"


def file(name: str = "") -> str:
    """Return a sentence that replaces a file."""
    return f"*A file was here: {name}.*" if name else "*A file was here.*"


def sound() -> str:
    """Return a sentence that replaces a recording."""
    return "*A recording was here.*"


def fenced(code: str, language: str = "") -> str:
    """Put code into a Markdown block that nothing in the code can end."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}"


def without_reasoning(text: str) -> tuple[str, str]:
    """Split off the reasoning at a text's beginning; return the text and the reasoning."""
    match = _THINK.match(text)
    return (text[match.end() :], match.group(1).strip()) if match else (text, "")
