"""The texts of the prompt library and their variables, written {{name}}: pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from app.base.errors import PromptsNotRead
from engines.sentences import N_

FILLED_IN: Final = ("clipboard", "date", "selection")
"""The variables that Hearth fills in itself."""

LONGEST_FILE: Final = 10_000_000
"""In bytes. A larger file is not a file of prompts."""

_FORMAT: Final = "hearth-prompts"
_VARIABLE: Final = re.compile(r"\{\{\s*([^\W\d][\w -]{0,39}?)\s*\}\}")


@dataclass(frozen=True)
class SavedPrompt:
    """A text of the prompt library, and the name by which the user inserts it."""

    id: str
    name: str
    text: str


def variables(text: str) -> tuple[str, ...]:
    """Return the names of a text's variables, each once, in order of appearance."""
    return tuple(dict.fromkeys(match[1] for match in _VARIABLE.finditer(text)))


def asked_for(text: str) -> tuple[str, ...]:
    """Return the names of the variables that only the user can fill in."""
    return tuple(name for name in variables(text) if name not in FILLED_IN)


def filled(text: str, values: Mapping[str, str]) -> str:
    """Fill in a text's variables; leave a variable without a value as it is.

    Variables inside the values are not filled in.
    """
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)


def matching(prompts: Iterable[SavedPrompt], words: str) -> list[SavedPrompt]:
    """Return the prompts whose names contain every word.

    Names that begin with the first word come first.
    """
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

    A plain list is accepted, too, if its objects have a name, title or command, and a text, content
    or prompt.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _not_read(N_("It is not a JSON file.")) from error
    items = value.get("prompts") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise _not_read(N_("It contains no list of prompts."))
    found = [it for item in items if (it := _read(item)) is not None]
    if not found:
        raise _not_read(N_("Nothing in it has both a name and a text."))
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
        N_("No prompts were read from this file."),
        why,
        N_("Choose a file that was exported from the prompt library."),
    )
