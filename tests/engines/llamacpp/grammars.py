"""Texts and grammars, by the stacks that judge grammars before llama.cpp sees them."""

from __future__ import annotations

import random

from engines.llamacpp.gbnf import Characters, Grammar, parse
from engines.llamacpp.grammar import Stacks


def matches(grammar: str, text: str) -> bool:
    """Whether the whole text follows the grammar."""
    rules = parse(grammar)
    stacks = Stacks(rules)
    now = stacks.begin(rules.names["root"])
    for char in text:
        now = stacks.accept(now, ord(char))
    return () in now


class Drawer:
    """Draws texts that follow a grammar, each alternative as likely as the others while short."""

    def __init__(self, text: str) -> None:
        self._grammar = parse(text)
        self._least = _shortest(self._grammar)

    def draw(self, chance: random.Random, *, length: int = 60) -> str:
        """Draw a text; once it has `length` characters, what ends soonest is taken."""
        written: list[str] = []
        waiting: list[Characters | int] = [self._grammar.names["root"]]
        while waiting:
            element = waiting.pop()
            if isinstance(element, Characters):
                written.append(_any(element, chance))
                continue
            ways = self._grammar.rules[element]
            if len(written) >= length:
                way = min(ways, key=lambda it: sum(map(self._cost, it)))
            else:
                way = chance.choice([it for it in ways if self._ends(it)])
            waiting += reversed(way)
        return "".join(written)

    def _ends(self, way: tuple[Characters | int, ...]) -> bool:
        return sum(map(self._cost, way)) < _NEVER

    def _cost(self, element: Characters | int) -> int:
        return 1 if isinstance(element, Characters) else self._least[element]


_NEVER = 1 << 40


def _shortest(grammar: Grammar) -> list[int]:
    """Return the least steps that it takes to write each rule."""
    least = [_NEVER] * len(grammar.rules)
    changed = True
    while changed:
        changed = False
        for number, rule in enumerate(grammar.rules):
            for way in rule:
                cost = 1 + sum(1 if isinstance(it, Characters) else least[it] for it in way)
                if cost < least[number]:
                    least[number], changed = cost, True
    return least


_SAMPLES = [*map(ord, "aZ09 _-.:,äé日😀"), 0x20, 0xFFFD, 0x10FFFF]


def _any(characters: Characters, chance: random.Random) -> str:
    if not characters.negated:
        low, high = chance.choice(characters.ranges)
        return chr(chance.randint(low, min(high, low + 200)))
    return chr(chance.choice([code for code in _SAMPLES if characters.match(code)]))
