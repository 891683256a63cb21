"""The folded blocks that Open WebUI keeps in the text of an answer, taken out of it.

`<details type="reasoning" duration="…">`, "tool_calls" and "code_interpreter", as
backend/open_webui/utils/middleware.py of open-webui/open-webui writes them.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

_OPENS, _CLOSES = "<details type=", "</details>"
_KIND = re.compile(r"<details type=[\"'](reasoning|tool_calls|code_interpreter)[\"']")
_DURATION = re.compile(r"\bduration=[\"']([\d.]{1,9})[\"']")
_SUMMARY = re.compile(r"\s*<summary>[^<]*</summary>")


@dataclass(frozen=True)
class Unfolded:
    """text: what is left of it. seconds: of reasoning. tools: how many blocks told of tools."""

    text: str
    reasoning: str = ""
    seconds: float = 0.0
    tools: int = 0


def unfolded(text: str) -> Unfolded:
    """A text without its blocks; one that is quoted as code stays. Takes linear time."""
    kept: list[str] = []
    reasoning: list[str] = []
    seconds, tools, fences = 0.0, 0, 0
    done = place = 0
    while (place := text.find(_OPENS, place)) >= 0:
        head_end = text.find(">", place)
        end = text.find(_CLOSES, head_end)
        if head_end < 0 or end < 0:
            break
        fences += text.count("```", done, place)
        kind = _KIND.match(text, place)
        kept.append(text[done:place])
        if kind is None or fences % 2:
            done, place = place, place + len(_OPENS)
            continue
        inside = text[head_end + 1 : end]
        if summary := _SUMMARY.match(inside):
            inside = inside[summary.end() :]
        if kind[1] == "reasoning":
            reasoning.append(_unquoted(inside))
            duration = _DURATION.search(text, place, head_end)
            seconds += _number(duration[1]) if duration else 0.0
        elif kind[1] == "code_interpreter":
            kept.append(html.unescape(inside).strip("\n") + "\n\n")
        else:
            tools += 1
        done = place = end + len(_CLOSES)
        while done < len(text) and text[done] in "\n\r":
            done += 1
    kept.append(text[done:])
    return Unfolded("".join(kept), "\n\n".join(filter(None, reasoning)), seconds, tools)


def _unquoted(text: str) -> str:
    lines = html.unescape(text).strip().split("\n")
    return "\n".join(line.removeprefix("> ").removeprefix(">") for line in lines).strip()


def _number(digits: str) -> float:
    return float(digits) if digits.replace(".", "", 1).isdigit() else 0.0
