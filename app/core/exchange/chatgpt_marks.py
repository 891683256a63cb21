"""The marks that ChatGPT leaves in its answers for sources and names, made readable.

A mark stands between U+E200 and U+E201, its parts apart by U+E202: `cite` and the sources, or
`entity` and a list of kind, name and more. `content_references` of the message's metadata hold
for a mark, as `matched_text`, the link that is shown instead, as `alt`. So src/utils/citations.ts
of pionxzh/chatgpt-exporter has it; older answers have footnotes such as 【11†source】.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.core.exchange.plain import as_dict, as_list, as_text, from_json

_MARK = re.compile("( ?)(\ue200([^\ue200\ue201]*)\ue201)")
_FOOTNOTE = re.compile(r" ?【\d{1,6}(?::\d{1,6})?†[^】\n]{0,200}】")
_STRAY = re.compile("[\ue200-\ue204]")


def readable(text: str, metadata: Mapping[str, Any]) -> str:
    """An answer with links and names in place of its marks, and without those that mean none."""
    if "\ue200" in text:
        references = [as_dict(it) for it in as_list(metadata.get("content_references"))]
        shown = {as_text(it.get("matched_text")): as_text(it.get("alt")) for it in references}

        def instead(mark: re.Match[str]) -> str:
            told = shown.get(mark[2]) or _name(mark[3].split("\ue202"))
            return mark[1] + told if told else ""

        text = _MARK.sub(instead, text)
    return _STRAY.sub("", _FOOTNOTE.sub("", text))


def _name(parts: list[str]) -> str:
    """What a mark without a reference says: the name of a thing, or a link; else nothing."""
    if parts[0] == "entity" and len(parts) > 1:
        try:
            value = as_list(from_json(parts[1]))
        except ValueError:
            return "" if parts[1].startswith("[") else parts[1]
        return as_text(value[1]) if len(value) > 1 else ""
    if parts[0] == "url" and len(parts) > 2:
        return f"[{parts[1]}]({parts[2]})"
    return ""
