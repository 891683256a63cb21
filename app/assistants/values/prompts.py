"""Texts to write with, and the variables in them: {{name}} stands for what is filled in. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from app.base.errors import PromptsNotRead

FILLED_IN: Final = ("clipboard", "date", "selection")
"""The variables that Hearth fills in by itself."""

LONGEST_FILE: Final = 10_000_000
"""Bytes; a file of prompts that is larger is something else."""

_FORMAT: Final = "hearth-prompts"
_VARIABLE: Final = re.compile(r"\{\{\s*([^\W\d][\w -]{0,39}?)\s*\}\}")


@dataclass(frozen=True)
class SavedPrompt:
    """A text of the prompt library, with the name by which it is inserted."""

    id: str
    name: str
    text: str


def variables(text: str) -> tuple[str, ...]:
    """List the names of a text's variables, each once, in the order in which they come."""
    return tuple(dict.fromkeys(match[1] for match in _VARIABLE.finditer(text)))


def asked_for(text: str) -> tuple[str, ...]:
    """Name the variables in a text that only the user can fill in."""
    return tuple(name for name in variables(text) if name not in FILLED_IN)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Fill in a text's variables; one without a value stays as it is.

    What is filled in is not looked through for variables again.
    """
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)


def matching(prompts: Iterable[SavedPrompt], words: str) -> list[SavedPrompt]:
    """Find the prompts whose names hold every word; those that begin with the first come first."""
    wanted = words.casefold().split()
    found = [it for it in prompts if all(word in it.name.casefold() for word in wanted)]
    begins = wanted[0] if wanted else ""
    return sorted(found, key=lambda it: not it.name.casefold().startswith(begins))


def as_json(prompts: Iterable[SavedPrompt]) -> str:
    """Write prompts as a file that `from_json` reads."""
    texts = [{"name": it.name, "text": it.text} for it in prompts]
    return json.dumps({"format": _FORMAT, "prompts": texts}, ensure_ascii=False, indent=2) + "\n"


def from_json(data: str) -> list[tuple[str, str]]:
    """Read the names and texts of prompts from a file. Raises PromptsNotRead.

    Read as well: a plain list of objects that have a name or title, and a text, content or prompt.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _not_read("It is not a JSON file.") from error
    items = value.get("prompts") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise _not_read("It contains no list of prompts.")
    found = [it for item in items if (it := _read(item)) is not None]
    if not found:
        raise _not_read("Nothing in it has both a name and a text.")
    return found


def _read(item: object) -> tuple[str, str] | None:
    if not isinstance(item, dict):
        return None
    name = _first(item, ("name", "title", "command"))
    text = _first(item, ("text", "content", "prompt"))
    return (" ".join(name.split()).lstrip("/"), text) if name.strip("/ ") and text else None


def _first(item: Mapping[str, object], keys: Iterable[str]) -> str:
    texts = (item.get(key) for key in keys)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _not_read(why: str) -> PromptsNotRead:
    return PromptsNotRead(
        "No prompts were read from this file.",
        why,
        "Choose a file that was exported from the prompt library.",
    )
