"""Draws random conversations: questions of all intents in many wordings, with their answers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from guide import wording
from guide.augment import augment
from guide.intents import Intent, Knowledge, fill, normalise, slots_of
from guide.mixing import mix
from guide.patterns import Patterns
from guide.teacher import Teacher

OUT_OF_SCOPE_SHARE = 0.22
SYSTEM_SHARE = 0.12
PATTERN_SHARE = 0.4
MIXED_SHARE, MIXED_BATCH, SURE = 0.5, 256, 0.5
"""Share of mixed-up questions, number judged at a time, and least certainty of the judge."""
PREFERRED_SHARE = 0.55
"""Share of preferred intents among the known questions while the preference is strongest."""

_ONSETS = "b bl br c ch cr d dr f fl g gr h j k l m n p pr qu r s sh st t th tr v w z".split()
_RIMES = "a an ar e el en er i in is o ol on or u um us ax ix oom ett ill and".split()
_SUBJECT = re.compile(r"\b(?:" + "|".join(wording.SUBJECTS) + r")\b", re.IGNORECASE)


@dataclass(frozen=True)
class Exchange:
    """A question and the answer it should get."""

    question: str
    answer: str


@dataclass(frozen=True)
class Dialogue:
    """A conversation; an empty `system` means that there is no system turn."""

    system: str
    exchanges: tuple[Exchange, ...]


class DialogueSource:
    """An endless supply of training conversations, the same for the same seed."""

    def __init__(
        self, knowledge: Knowledge, patterns: Patterns, seed: int, preferred: Sequence[str] = ()
    ) -> None:
        self._knowledge = knowledge
        self._preferred = [one for one in knowledge.in_scope if one.name in preferred]
        self._preference = 0.0
        self._patterns = patterns
        self._rng = Random(seed)
        self._held_out = {
            normalise(text) for intent in knowledge.intents for text in intent.held_out
        }
        self._teacher: Teacher | None = None
        self._answers = {intent.name: intent.answer for intent in knowledge.intents}
        self._mixed: list[Exchange] = []

    def __iter__(self) -> Iterator[Dialogue]:
        while True:
            yield self.dialogue(self._rng.choice((1, 1, 1, 2, 3, 4, 6, 8)))

    def dialogue(self, turns: int) -> Dialogue:
        """Return a conversation of `turns` exchanges."""
        system = ""
        if self._rng.random() < SYSTEM_SHARE:
            system = self._rng.choice(wording.SYSTEM_PROMPTS)
        return Dialogue(system, tuple(self.exchange() for _ in range(turns)))

    def use(self, teacher: Teacher) -> None:
        """From now on, let `teacher` judge mixed-up questions, and hand out those too."""
        self._teacher = teacher

    def prefer(self, strength: float) -> None:
        """Ask more about the preferred intents: no more than about others at 0, most at 1."""
        self._preference = strength if self._preferred else 0.0

    def exchange(self) -> Exchange:
        """Return a rewritten question with its answer; never a held-out question."""
        if self._teacher and self._rng.random() < MIXED_SHARE:
            return self._mixed_exchange(self._teacher)
        name, question = self.asked()
        return Exchange(question, self._answers[name])

    def asked(self) -> tuple[str, str]:
        """Return the name of an intent and a rewritten question for it; never a held-out one."""
        rng = self._rng
        while True:
            if rng.random() < OUT_OF_SCOPE_SHARE:
                intent = self._knowledge.out_of_scope
                question = self._unknown()
            else:
                preferred = rng.random() < PREFERRED_SHARE * self._preference
                intent = rng.choice(self._preferred if preferred else self._knowledge.in_scope)
                question = self._known(intent)
            question = augment(question, rng, intent.small_talk)
            if normalise(question) not in self._held_out:
                return intent.name, question

    def _mixed_exchange(self, teacher: Teacher) -> Exchange:
        """Return a mixed-up question with its answer, of which the teacher is sure."""
        while not self._mixed:
            written = [self.asked()[1] for _ in range(MIXED_BATCH)]
            questions = [mix(written, self._rng) for _ in range(MIXED_BATCH)]
            self._mixed = [
                Exchange(question, self._answers[name])
                for question, (name, chance) in zip(
                    questions, teacher.judge(questions), strict=True
                )
                if chance > SURE and normalise(question) not in self._held_out
            ]
        return self._mixed.pop()

    def _known(self, intent: Intent) -> str:
        """Return a question for `intent`, written by hand or made from a pattern."""
        if intent.name in self._patterns.intents and self._rng.random() < PATTERN_SHARE:
            return self._patterns.question(intent.name, self._rng)
        return self._rng.choice(intent.phrasings)

    def _unknown(self) -> str:
        """Return a question outside the guide's knowledge."""
        rng, templates = self._rng, self._knowledge.templates
        kind = rng.random()
        if kind < 0.4 or not templates.patterns:
            return rng.choice(self._knowledge.out_of_scope.phrasings)
        if kind < 0.48 and (question := self._near_miss()):
            return question
        if kind < 0.97:
            pattern = rng.choice(templates.patterns)
            strange = rng.random() < 0.12
            return fill(
                pattern,
                {
                    slot: invented_words(rng) if strange else rng.choice(templates.slots[slot])
                    for slot in slots_of(pattern)
                },
            )
        return invented_words(rng)

    def _near_miss(self) -> str:
        """Return a question with a foreign word in place of Hearth's; "" if none was found."""
        rng, slots = self._rng, self._knowledge.templates.slots
        for _ in range(8):
            intent = rng.choice(self._knowledge.in_scope)
            question = rng.choice(intent.phrasings)
            words = set(normalise(question).split())
            if intent.small_talk or words & wording.TERMS or not words & set(wording.SUBJECTS):
                continue
            thing = rng.choice(slots[rng.choice(wording.FOREIGN_SLOTS)])
            return _SUBJECT.sub(thing, question)
        return ""


def held_out_questions(knowledge: Knowledge, seed: int, templated: int) -> list[tuple[Intent, str]]:
    """Return all held-out phrasings, and `templated` held-out patterns with held-out words."""
    rng = Random(seed)
    questions = [(intent, text) for intent in knowledge.intents for text in intent.held_out]
    templates = knowledge.templates
    for _ in range(templated if templates.held_out_patterns else 0):
        pattern = rng.choice(templates.held_out_patterns)
        values = {slot: rng.choice(templates.held_out_slots[slot]) for slot in slots_of(pattern)}
        questions.append((knowledge.out_of_scope, fill(pattern, values)))
    return questions


def invented_words(rng: Random) -> str:
    """Return one to four invented words, like unknown names and gibberish."""
    words = []
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        syllables = rng.choice((1, 2, 2, 3))
        word = "".join(rng.choice(_ONSETS) + rng.choice(_RIMES) for _ in range(syllables))
        words.append(word.capitalize() if rng.random() < 0.3 else word)
    return " ".join(words)
