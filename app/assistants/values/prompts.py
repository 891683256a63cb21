"""The texts of the prompt library and their variables, written {{name}}."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from app.base.errors import PromptsNotRead
from engines.sentences import N_

AUTOMATIC_VARIABLES: Final = ("clipboard", "date", "selection")
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


def user_variables(text: str) -> tuple[str, ...]:
    """Return the names of the variables that only the user can fill in."""
    return tuple(name for name in variables(text) if name not in AUTOMATIC_VARIABLES)


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """Fill in a text's variables; leave a variable without a value as it is.

    Variables inside the values are not filled in.
    """
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)


def matching(prompts: Iterable[SavedPrompt], words: str) -> list[SavedPrompt]:
    """Return the prompts whose names contain every word.

    Names that begin with the first word come first.
    """
    searched = words.casefold().split()
    matches = [
        prompt for prompt in prompts if all(word in prompt.name.casefold() for word in searched)
    ]
    first_word = searched[0] if searched else ""
    return sorted(matches, key=lambda prompt: not prompt.name.casefold().startswith(first_word))


def as_json(prompts: Iterable[SavedPrompt]) -> str:
    """Write prompts as a file that `from_json` reads."""
    texts = [{"name": prompt.name, "text": prompt.text} for prompt in prompts]
    return json.dumps({"format": _FORMAT, "prompts": texts}, ensure_ascii=False, indent=2) + "\n"


def from_json(data: str) -> list[tuple[str, str]]:
    """Read the names and texts of prompts from a file. Raises PromptsNotRead.

    A plain list is accepted, too, if its objects have a name, title or command, and a text, content
    or prompt.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _unreadable(N_("It is not a JSON file.")) from error
    items = value.get("prompts") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise _unreadable(N_("It contains no list of prompts."))
    prompts = [prompt for item in items if (prompt := _parse_item(item)) is not None]
    if not prompts:
        raise _unreadable(N_("No entry in it has both a name and a text."))
    return prompts


def _parse_item(item: object) -> tuple[str, str] | None:
    if not isinstance(item, dict):
        return None
    name = _first_text(item, ("name", "title", "command"))
    text = _first_text(item, ("text", "content", "prompt"))
    return (" ".join(name.split()).lstrip("/"), text) if name.strip("/ ") and text else None


def _first_text(item: Mapping[str, object], keys: Iterable[str]) -> str:
    texts = (item.get(key) for key in keys)
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _unreadable(reason: str) -> PromptsNotRead:
    return PromptsNotRead(
        N_("No prompts were read from this file."),
        reason,
        N_("Choose a file that was exported from the prompt library."),
    )
