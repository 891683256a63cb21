"""Expands compact patterns of questions: `(a|b)` chooses, `{name}` stands for a word list."""

import re
import tomllib
from pathlib import Path
from random import Random

_CHOICE = re.compile(r"\(([^()]*)\)")
_WORD = re.compile(r"\{(\w+)\}")


class Patterns:
    """Patterns of questions by intent, read from the TOML files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._words: dict[str, str] = {}
        self._patterns: dict[str, list[str]] = {}
        for path in sorted(folder.glob("*.toml")):
            content = tomllib.loads(path.read_text(encoding="utf-8"))
            self._words |= content["words"]
            self._patterns |= content["patterns"]

    @property
    def intents(self) -> frozenset[str]:
        """Names of the intents that have patterns."""
        return frozenset(self._patterns)

    def question(self, intent: str, rng: Random) -> str:
        """Return a random question for `intent`."""
        return self.expand(rng.choice(self._patterns[intent]), rng)

    def expand(self, pattern: str, rng: Random) -> str:
        """Choose one alternative everywhere in `pattern`.

        Raises KeyError where it names an unknown word list.
        """
        while _WORD.search(pattern):
            pattern = _WORD.sub(lambda match: self._words[match[1]], pattern)
        while _CHOICE.search(pattern):
            pattern = _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), pattern)
        return " ".join(pattern.split())
