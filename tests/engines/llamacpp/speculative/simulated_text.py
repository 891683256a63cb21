"""Texts and computers for the depth policy, without a model and without a clock.

A text says for each of its tokens if a drafter that starts there would be right, draft by draft,
and how confident it would be. Its tokens are easy or hard in stretches, as in real texts. A
computer has the costs of its steps in a table. The time is taken from this table; the policy gets a
noisy measurement of it, as from a real computer. Everything is drawn from seeds, so every run is
the same.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from math import exp

from engines.llamacpp.speculative.costs import Costs
from engines.llamacpp.speculative.depth import DepthPolicy
from engines.types import MAX_DEPTH, MtpKind


@dataclass(frozen=True)
class Computer:
    """The costs of steps and drafts, in plain steps.

    Attributes:
        ratios: The cost of a step that checks k drafts, by k.
        draft: The cost of a draft.
        measured: The depths that a calibration measures.
        plain_s: The time of a plain step in seconds.
    """

    ratios: tuple[float, ...]
    draft: float
    measured: tuple[int, ...] = (0, 1, 3, 7)
    plain_s: float = 0.05

    def costs(self, noise: float = 0.03) -> Costs:
        """Return the costs that a calibration would find."""
        dice = random.Random(5)
        steps = {
            k: self.plain_s * self.ratios[k] * exp(dice.gauss(0, noise)) for k in self.measured
        }
        return Costs(steps, self.plain_s * self.draft * exp(dice.gauss(0, noise)))

    def fixed(self, acceptance: Sequence[float], k: int) -> float:
        """Return the theoretical gain of a fixed depth, from the acceptance at each position."""
        tokens, reach = 1.0, 1.0
        for chance in acceptance[:k]:
            reach *= chance
            tokens += reach
        return tokens / (self.ratios[k] + k * self.draft)


# Rows with a source were measured: two cores, 0.3 B and E2B shapes. The others are assumed.
COMPUTERS = {
    "Q8_0, 2 threads": Computer((1, 1.53, 2.22, 2.18, 2.96, 3.5, 4.1, 4.2, 5.0), 0.10),
    "Q4_0 E2B, 2 threads": Computer((1, 1.53, 2.30, 2.53, 3.21, 3.9, 4.5, 4.7, 5.5), 0.07),
    "Q4_0 E2B, 1 thread": Computer(
        (1, 1.93, 2.79, 2.89, 3.89, 4.8, 5.6, 5.7, 6.8), 0.07, measured=(0, 1, 3)
    ),
    "F16": Computer((1, 1.20, 1.31, 1.67, 1.70, 2.0, 2.1, 2.4, 2.5), 0.07),
    "Q8_0, 0.3 B": Computer((1, 2.55, 3.37, 2.81, 3.67, 3.95, 4.23, 4.44, 4.66), 0.095),
    "Q4_0, 0.3 B": Computer((1, 1.63, 2.23, 2.57, 3.14, 3.74, 4.35, 4.75, 5.16), 0.135),
    "F16, 0.3 B": Computer((1, 1.42, 1.62, 1.85, 2.0, 2.2, 2.4, 2.6, 2.75), 0.085),
    "GPU": Computer((1, 1.03, 1.06, 1.09, 1.12, 1.15, 1.2, 1.25, 1.3), 0.05),
    "tiny": Computer((1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.4, 2.6), 0.40),
    "dear drafter": Computer((1, 1.15, 1.3, 1.45, 1.6, 1.75, 1.9, 2.05, 2.2), 0.5),
    "cannot win": Computer((1, 1.97, 2.95, 3.9, 4.9, 5.8, 6.8, 7.7, 8.7), 0.15),
}


@dataclass(eq=False)
class Text:
    """Drafts by position in the text.

    Attributes:
        right: True for each right draft that starts at a position.
        sure: The confidence in each of these drafts.
        lookup: The same for the drafts of prompt lookup; empty without any.
        lookup_sure: The confidence in these.
    """

    right: list[list[bool]] = field(default_factory=list)
    sure: list[list[int]] = field(default_factory=list)
    lookup: list[list[bool]] = field(default_factory=list)
    lookup_sure: list[list[int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.right)

    def __add__(self, other: Text) -> Text:
        return Text(
            self.right + other.right,
            self.sure + other.sure,
            self.lookup + other.lookup,
            self.lookup_sure + other.lookup_sure,
        )


@cache
def make_text(
    length: int,
    acceptance: float,
    *,
    fall: float = 0.97,
    swing: float = 0.1,
    telling: bool = True,
    copying: float = 0.0,
    seed: int = 1,
) -> Text:
    """Make a text on which the first draft is right with the probability `acceptance`.

    Args:
        length: The number of tokens.
        acceptance: The probability that a first draft is right.
        fall: The factor from one position to the next.
        swing: The distance of easy and hard stretches from the mean.
        telling: True if the confidence depends on the draft.
        copying: The part of the text that repeats earlier text, so that prompt lookup finds it. In
            the rest it seldom proposes, and is seldom right.
        seed: The seed of the random numbers.
    """
    dice = random.Random(seed)
    swing = min(swing, 1 - acceptance, acceptance)
    text = Text()
    easy, copied = True, False
    for _ in range(length):
        if dice.random() < 1 / 8:
            easy = dice.random() < 0.5
        if dice.random() < 1 / 40:
            copied = dice.random() < copying
        middle = acceptance + (swing if easy else -swing)
        chances = [middle * fall**j for j in range(MAX_DEPTH)]
        text.right.append([dice.random() < chance for chance in chances])
        text.sure.append([_bucket(dice, held, telling) for held in text.right[-1]])
        proposes = copying > 0 and (copied or dice.random() < 0.2)
        odds = 0.96 if copied else 0.25
        held = [dice.random() < odds for _ in range(MAX_DEPTH)] if proposes else []
        text.lookup.append(held)
        text.lookup_sure.append([dice.choice((5, 6, 7) if copied else (0, 1, 2)) for _ in held])
    return text


def _bucket(dice: random.Random, held: bool, telling: bool) -> int:
    centre = (5.0 if held else 2.5) if telling else 4.0
    return max(0, min(7, round(dice.gauss(centre, 1.6))))


def run_of(outcomes: Sequence[bool], most: int) -> int:
    """Count the right ones among the first `most` drafts, up to the first wrong one."""
    for index in range(min(most, len(outcomes))):
        if not outcomes[index]:
            return index
    return min(most, len(outcomes))


@dataclass
class Outcome:
    """The result of a text: its time in plain steps, the gain over Off, and the depth by token."""

    tokens: int = 0
    time: float = 0.0
    worst: float = 0.0
    depths: list[int] = field(default_factory=list)
    drafted: list[int] = field(default_factory=list)

    @property
    def gain(self) -> float:
        return self.tokens / self.time


def write(
    text: Text,
    computer: Computer,
    policy: DepthPolicy,
    kind: MtpKind,
    noise: float = 0.05,
    beside: float = 0.0,
    *,
    repeats: bool = False,
) -> Outcome:
    """Let the policy write the text, after the caller has begun the answer.

    Args:
        text: The text.
        computer: The computer.
        policy: The policy.
        kind: The kind of the model's drafter.
        noise: The noise of the measurements.
        beside: Plain steps that each step with drafts takes in addition.
        repeats: True if the rest of a step with a wrong draft is evaluated again in the next step.
    """
    dice = random.Random(17)
    outcome = Outcome()
    again = 0
    guessed: list[bool] = []
    while outcome.tokens < len(text):
        at = outcome.tokens
        room = min(MAX_DEPTH - again, len(text) - at - 1)
        proposal = text.lookup_sure[at]
        plan = policy.plan(room, proposal)
        assert plan.drafts <= room
        drafted = 0
        if plan.source == kind and plan.drafts:
            going = True
            while going and drafted < plan.drafts:
                going = policy.more(text.sure[at][drafted])
                drafted += 1
        checked = policy.verify()
        outcomes = text.lookup[at] if plan.source == "lookup" else text.right[at]
        out = 1 + run_of(outcomes, checked)
        if drafted:
            guessed = text.right[at][:drafted]
        right = run_of(guessed, out)
        draft = drafted * computer.draft
        step = computer.ratios[checked + again]
        spent = beside if checked or drafted else 0.0
        outcome.time += draft + step + spent
        scale = computer.plain_s * exp(dice.gauss(0, noise))
        policy.learn(
            out,
            right,
            run_of(text.lookup[at], min(out, len(proposal))),
            step * scale,
            draft * computer.plain_s,
            spent * computer.plain_s,
            again=again,
        )
        again = again + out if repeats and out <= checked else 0
        guessed = guessed[out:] if right == out else []
        outcome.tokens += out
        outcome.worst = max(outcome.worst, outcome.time - outcome.tokens)
        outcome.depths += [checked] * out
        outcome.drafted += [drafted] * out
    return outcome


@cache
def best_fixed(text: Text, computer: Computer, *, repeats: bool = False) -> tuple[float, int]:
    """Return the best fixed depth of the model's drafter on this text, after its gain."""
    gains = []
    for depth in range(MAX_DEPTH + 1):
        at, time, again = 0, 0.0, 0
        while at < len(text):
            k = min(depth, MAX_DEPTH - again, len(text) - at - 1)
            out = 1 + run_of(text.right[at], k)
            at += out
            time += computer.ratios[k + again] + k * computer.draft
            again = again + out if repeats and out <= k else 0
        gains.append((len(text) / time, depth))
    return max(gains)
