"""The verdict on whether MTP changes a model's answers, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engines.sentences import N_
from engines.types import MtpCheck

Verdict = Literal["same", "tie", "different"]

TIE = 0.02
"""The gap below which two tokens tie, in standard deviations of all logits.

A smaller gap between the two likeliest tokens can come from rounding, when several tokens are
computed at once.
"""


@dataclass(frozen=True)
class PromptComparison:
    """The comparison of one prompt's answers with and without MTP; prompts are counted from 1."""

    prompt: int
    check: MtpCheck


def verdict_of(check: MtpCheck) -> Verdict:
    """Return the verdict on one comparison."""
    if check.identical:
        return "same"
    return "tie" if check.gap is not None and check.gap < TIE else "different"


def is_good(results: Sequence[PromptComparison]) -> bool:
    """Return whether all answers are identical, or differ only because of rounding."""
    return all(verdict_of(result.check) != "different" for result in results)


def in_words(results: Sequence[PromptComparison]) -> tuple[str, ...]:
    """Return the outcome, then a sentence for each place where the answers differ."""
    differing = [result for result in results if not result.check.identical]
    tokens = sum(result.check.tokens for result in results)
    prompts = len({result.prompt for result in results})
    amount = (
        N_("{tokens} tokens of one prompt", tokens=f"{tokens:,}")
        if prompts == 1
        else N_("{tokens} tokens of {prompts} prompts", tokens=f"{tokens:,}", prompts=prompts)
    )
    if not differing:
        head = N_("Same answer: {amount} are identical with and without MTP.", amount=amount)
    elif is_good(results):
        head = N_(
            "Same answer up to rounding: {amount} are identical with and without MTP.",
            amount=amount,
        )
    else:
        head = N_(
            "Not the same answer: {amount} are identical, then the answers differ.", amount=amount
        )
    lines = [head]
    if not any(result.check.accepted for result in results):
        lines.append(N_("No guessed token was accepted, so this shows little."))
    return (*lines, *(_place(result) for result in differing))


def _place(result: PromptComparison) -> str:
    check = result.check
    where = N_(
        "Prompt {prompt}, at token {tokens}, {depth} ahead",
        prompt=result.prompt,
        tokens=check.tokens + 1,
        depth=check.depth,
    )
    if check.gap is None:
        return N_("{where}: from there on they differ, or one of them has ended.", where=where)
    if verdict_of(check) == "tie":
        return N_(
            "{where}: two words were equally likely to {gap} of the spread; rounding decides "
            "there.",
            where=where,
            gap=f"{check.gap:.3f}",
        )
    return N_(
        "{where}: the two words are {gap} of the spread apart, which is more than rounding "
        "explains.",
        where=where,
        gap=f"{check.gap:.2f}",
    )
