"""What stands in an imported message for what Hearth cannot show, and reasoning among the text."""

from __future__ import annotations

import html
import re

_REASONING = re.compile(
    r"<details type=[\"']reasoning[\"'][^>]*?(?:duration=[\"']([\d.]{1,9})[\"'][^>]*)?>\s*"
    r"(?:<summary>[^<]*</summary>)?(.*?)</details>\s*",
    re.DOTALL,
)
_THINK = re.compile(r"\A\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)\s*", re.DOTALL)


def picture(name: str = "") -> str:
    """A sentence in place of a picture."""
    return f"*A picture was here: {name}.*" if name else "*A picture was here.*"


def file(name: str = "") -> str:
    """A sentence in place of a file."""
    return f"*A file was here: {name}.*" if name else "*A file was here.*"


def sound() -> str:
    """A sentence in place of a recording."""
    return "*A recording was here.*"


def fenced(code: str, language: str = "") -> str:
    """Code as a block of markdown that nothing in it can end."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}"


def without_reasoning(text: str) -> tuple[str, str, float]:
    """A text, the reasoning that stood in it, and how long that took in seconds."""
    reasoning: list[str] = []
    seconds = 0.0
    for duration, told in _REASONING.findall(text):
        lines = (line.removeprefix("> ").removeprefix(">") for line in _lines(told))
        reasoning.append("\n".join(lines).strip())
        seconds += float(duration) if duration.replace(".", "", 1).isdigit() else 0.0
    text = _REASONING.sub("", text)
    if begun := _THINK.match(text):
        reasoning.append(begun.group(1).strip())
        text = text[begun.end() :]
    return text, "\n\n".join(it for it in reasoning if it), seconds


def _lines(text: str) -> list[str]:
    return html.unescape(text).strip().split("\n")
