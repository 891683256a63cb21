"""Decides whether llama.cpp can follow a grammar, before it sees it: pure.

llama.cpp follows a grammar with stacks: each says what may still come, its top what comes next
(llama_grammar_advance_stack). A rule that begins with itself grows a stack without end; rules that
begin alike multiply the stacks, with each character of the answer if they contain themselves. Both
end in memory running out, which nothing can catch. So the same stacks are built here first, with
limits: at every rule's beginning, and behind the texts for which their number grows most.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Final

from engines.errors import GrammarInvalid
from engines.llamacpp.gbnf import Characters, Element, Grammar, NotGbnf, Rule, parse

ROOT: Final = "root"

MAX_STACKS: Final = 2000
"""Ways to go on at any one place; a grammar of JSON has about ten."""
MAX_HEIGHT: Final = 1000
"""Rules open within each other before the first character of one."""
MAX_WORK: Final = 500_000
"""Places in all stacks that are built here for one rule, about half a second's work."""

_ANY_CODES: Final = tuple(map(ord, ' a0",\n'))
_PROBED_CHARACTERS = 40
_PROBED_TEXTS = 3

Stack = tuple[int, ...]
"""The places at which open alternatives go on, the innermost last."""


class TooAmbiguous(Exception):
    """A grammar leaves more ways to go on than llama.cpp could hold."""


@lru_cache(maxsize=16)  # a grammar usually comes back with the next message
def require_grammar(text: str) -> None:
    """Refuse a grammar that llama.cpp could not read or follow. Raises GrammarInvalid."""
    try:
        grammar = parse(text)
    except NotGbnf as error:
        raise invalid(f"Line {error.line}, column {error.column}: {error.why}.") from error
    if ROOT not in grammar.names:
        raise invalid("It has no rule “root”, with which every answer begins.")
    if cycle := _begins_with_itself(grammar):
        raise invalid(f"The rule “{cycle}” can begin with itself, so it would never end.")
    if grammar.names[ROOT] not in _can_end(grammar.rules):
        raise invalid("The rule “root” needs itself wherever it could end, so it would never end.")
    try:
        Stacks(grammar).explore()
    except TooAmbiguous as error:
        raise invalid(
            "It leaves so many ways to go on at once that llama.cpp could not follow them all."
        ) from error


def invalid(why: str) -> GrammarInvalid:
    return GrammarInvalid(
        "The grammar cannot be used.", why, "Correct the grammar, or ask without it."
    )


def _begins_with_itself(grammar: Grammar) -> str:
    """Find a rule that comes back to itself before any character; returns its name, or "".

    The rules that repetition makes may, if what is repeated can be empty: they end there.
    """
    rules = grammar.rules
    names = {number: name for name, number in grammar.names.items()}
    empty = _can_be_empty(rules)
    graph: dict[int, set[int]] = {}
    for number, rule in enumerate(rules):
        first = graph.setdefault(number, set())
        for sequence in rule:
            for element in sequence:
                if isinstance(element, Characters):
                    break
                if element != number or number in names:
                    first.add(element)
                if element not in empty:
                    break
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return next((names[number] for number in error.args[1] if number in names), ROOT)
    return ""


def _can_end(rules: list[Rule]) -> set[int]:
    """Find the rules that some text follows: those that are empty once characters are nothing."""
    return _can_be_empty(
        [[tuple(it for it in way if isinstance(it, int)) for way in rule] for rule in rules]
    )


def _can_be_empty(rules: list[Rule]) -> set[int]:
    # For each sequence of rules alone: how many of them are not known to be empty, and whose it is.
    mentions: defaultdict[Element, list[list[int]]] = defaultdict(list)
    found = []
    for number, rule in enumerate(rules):
        for sequence in rule:
            left = [len(sequence), number]
            for element in sequence:
                mentions[element].append(left)
            if not sequence:
                found.append(number)
    empty: set[int] = set()
    while found:
        number = found.pop()
        if number in empty:
            continue
        empty.add(number)
        for left in mentions[number]:
            left[0] -= 1
            if left[0] == 0:
                found.append(left[1])
    return empty


class Stacks:
    """llama.cpp's stacks for one grammar. Every method raises TooAmbiguous at its limits.

    A place is an element of an alternative; places are numbered through all rules.
    """

    def __init__(self, grammar: Grammar) -> None:
        self._named = tuple(grammar.names.values())
        self._element: list[Element] = []
        self._last: list[bool] = []
        # For each rule the stacks that take its place: one place, or none for nothing at all.
        self._alternatives: list[list[Stack]] = []
        for rule in grammar.rules:
            self._alternatives.append([self._add(sequence) for sequence in rule])
        self._work = 0

    def _add(self, sequence: tuple[Element, ...]) -> Stack:
        first = len(self._element)
        self._element += sequence
        self._last += [False] * len(sequence)
        if sequence:
            self._last[-1] = True
        return (first,) if sequence else ()

    def explore(self) -> None:
        """Build every rule's beginning, then follow the texts on which the stacks grow most.

        Each rule is followed by itself: what comes before it could take longer than this looks.
        """
        for number in range(len(self._alternatives)):
            self.begin(number)
        done = self._work
        for number in self._named:
            if done > MAX_WORK / 2:
                return
            self._work = 0
            texts = [self.begin(number)]
            for _ in range(_PROBED_CHARACTERS):
                taken = {self._take(text, code) for text in texts for code in self._codes(text)}
                most = sorted(taken, key=len, reverse=True)[:_PROBED_TEXTS]
                texts = [self._advance(stacks) for stacks in most]
            done += self._work

    def begin(self, rule: int) -> frozenset[Stack]:
        """Return the stacks at the beginning of a rule."""
        return self._advance(self._alternatives[rule])

    def accept(self, stacks: Iterable[Stack], code: int) -> frozenset[Stack]:
        """Return the stacks behind one more character; none if it is not allowed."""
        return self._advance(self._take(stacks, code))

    def _take(self, stacks: Iterable[Stack], code: int) -> frozenset[Stack]:
        tops = ((stack, self._element[stack[-1]]) for stack in stacks if stack)
        return frozenset(
            self._behind(stack)
            for stack, top in tops
            if isinstance(top, Characters) and top.match(code)
        )

    def _advance(self, open_stacks: Iterable[Stack]) -> frozenset[Stack]:
        """Replace rules by their alternatives, until every top is a character."""
        stacks = list(open_stacks)
        seen: set[Stack] = set()
        ready = set()
        while stacks:
            stack = stacks.pop()
            if stack in seen:
                continue
            seen.add(stack)
            self._work += 1 + len(stack)
            if len(seen) > 2 * MAX_STACKS or len(stack) > MAX_HEIGHT or self._work > MAX_WORK:
                raise TooAmbiguous
            top = self._element[stack[-1]] if stack else None
            if isinstance(top, int):
                below = self._behind(stack)
                stacks += [below + alternative for alternative in self._alternatives[top]]
            else:
                ready.add(stack)
        if len(ready) > MAX_STACKS:
            raise TooAmbiguous
        return frozenset(ready)

    def _behind(self, stack: Stack) -> Stack:
        """Return the stack with its top done."""
        place = stack[-1]
        return stack[:-1] if self._last[place] else (*stack[:-1], place + 1)

    def _codes(self, stacks: Iterable[Stack]) -> Iterable[int]:
        """List characters that most of the tops take, and some of all kinds."""
        lows: Counter[int] = Counter()
        for stack in stacks:
            top = self._element[stack[-1]] if stack else None
            if isinstance(top, Characters):
                lows.update(low for low, _ in top.ranges[:4])
        return {*_ANY_CODES, *(code for code, _ in lows.most_common(16))}
