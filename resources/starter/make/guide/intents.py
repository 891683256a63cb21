"""The guide's knowledge: intents with one answer and many phrasings, read from TOML files."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OUT_OF_SCOPE = "out_of_scope"
SMALL_TALK_FILE = "smalltalk.toml"

_NOT_WORD = re.compile(r"[^\w\s]|_")


@dataclass(frozen=True)
class Intent:
    """A question with its answer and many ways of asking it.

    `phrasings` are for training; `held_out` are only ever used to measure.
    """

    name: str
    answer: str
    phrasings: tuple[str, ...]
    held_out: tuple[str, ...]
    small_talk: bool = False


@dataclass(frozen=True)
class Templates:
    """Patterns with `{slot}` marks that yield many questions outside the guide's knowledge."""

    patterns: tuple[str, ...] = ()
    held_out_patterns: tuple[str, ...] = ()
    slots: dict[str, tuple[str, ...]] = field(default_factory=dict)
    held_out_slots: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Knowledge:
    """All intents and templates for the training."""

    intents: tuple[Intent, ...]
    templates: Templates

    @property
    def out_of_scope(self) -> Intent:
        """The intent for all questions that the guide cannot answer."""
        return next(intent for intent in self.intents if intent.name == OUT_OF_SCOPE)

    @property
    def in_scope(self) -> tuple[Intent, ...]:
        """All intents but the one for unknown questions."""
        return tuple(intent for intent in self.intents if intent.name != OUT_OF_SCOPE)


def normalise(text: str) -> str:
    """Lower-case `text` and strip punctuation, so that equal questions compare equal."""
    return " ".join(_NOT_WORD.sub(" ", text.lower().replace("'", "").replace("’", "")).split())


def load(folder: Path) -> Knowledge:
    """Read every `*.toml` file of `folder`.

    Raises ValueError where two intents share a name, one phrasing belongs to two intents,
    or the intent for unknown questions is missing.
    """
    intents: list[Intent] = []
    templates = Templates()
    for path in sorted(folder.glob("*.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        small_talk = path.name == SMALL_TALK_FILE
        intents += [_intent(entry, small_talk) for entry in content.get("intent", [])]
        if "templates" in content:
            templates = _templates(content)
    _check(intents)
    held_out = {normalise(text) for intent in intents for text in intent.held_out}
    return Knowledge(tuple(_without(intent, held_out) for intent in intents), templates)


def examination(path: Path, knowledge: Knowledge) -> list[tuple[Intent, str]]:
    """Return the questions of the examination without those that equal a phrasing.

    Raises KeyError for a question of an intent that does not exist.
    """
    by_name = {intent.name: intent for intent in knowledge.intents}
    known = {normalise(text) for intent in knowledge.intents for text in intent.phrasings}
    asked = tomllib.loads(path.read_text(encoding="utf-8"))["questions"]
    return [
        (by_name[name], text)
        for name, questions in asked.items()
        for text in questions
        if normalise(text) not in known
    ]


def fill(pattern: str, values: dict[str, str]) -> str:
    """Replace each `{slot}` of `pattern` by its value."""
    for slot, value in values.items():
        pattern = pattern.replace("{" + slot + "}", value)
    return pattern


def slots_of(pattern: str) -> list[str]:
    """Return the names of the slots in `pattern`."""
    return re.findall(r"\{(\w+)\}", pattern)


def _intent(entry: dict[str, Any], small_talk: bool) -> Intent:
    return Intent(
        name=entry["name"],
        answer=entry["answer"].strip(),
        phrasings=tuple(dict.fromkeys(text.strip() for text in entry["phrasings"])),
        held_out=tuple(dict.fromkeys(text.strip() for text in entry["held_out"])),
        small_talk=small_talk,
    )


def _templates(content: dict[str, Any]) -> Templates:
    return Templates(
        patterns=tuple(content["templates"]["patterns"]),
        held_out_patterns=tuple(content["templates"]["held_out_patterns"]),
        slots=_values(content["slots"]),
        held_out_slots=_values(content["held_out_slots"]),
    )


def _values(slots: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
    return {slot: tuple(values) for slot, values in slots.items()}


def _without(intent: Intent, held_out: set[str]) -> Intent:
    kept = tuple(text for text in intent.phrasings if normalise(text) not in held_out)
    return Intent(intent.name, intent.answer, kept, intent.held_out, intent.small_talk)


def _check(intents: list[Intent]) -> None:
    names = [intent.name for intent in intents]
    if len(names) != len(set(names)):
        doubles = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"Intents defined twice: {', '.join(doubles)}")
    if OUT_OF_SCOPE not in names:
        raise ValueError(f"No intent is called {OUT_OF_SCOPE}")
    owner: dict[str, str] = {}
    clashes = []
    for intent in intents:
        for text in intent.phrasings + intent.held_out:
            first = owner.setdefault(normalise(text), intent.name)
            if first != intent.name:
                clashes.append(f"{text!r} ({first}, {intent.name})")
    if clashes:
        raise ValueError("Phrasings that belong to two intents: " + "; ".join(clashes))
