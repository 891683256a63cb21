"""The verdict on whether MTP changes a model's answers, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engines.types import MtpCheck

Verdict = Literal["same", "tie", "different"]

TIE = 0.02
"""The gap below which two tokens tie, in standard deviations of all logits.

A smaller gap between the two likeliest tokens can come from rounding, when several tokens are
computed at once.
"""


@dataclass(frozen=True)
class Compared:
    """The comparison of one prompt's answers with and without MTP; prompts are counted from 1."""

    prompt: int
    check: MtpCheck


def verdict_of(check: MtpCheck) -> Verdict:
    """Return the verdict on one comparison."""
    if check.identical:
        return "same"
    return "tie" if check.gap is not None and check.gap < TIE else "different"


def is_good(results: Sequence[Compared]) -> bool:
    """Return whether all answers are identical, or differ only because of rounding."""
    return all(verdict_of(result.check) != "different" for result in results)


def in_words(results: Sequence[Compared]) -> tuple[str, ...]:
    """Return the outcome, then a sentence for each place where the answers differ."""
    apart = [result for result in results if not result.check.identical]
    tokens = sum(result.check.tokens for result in results)
    prompts = len({result.prompt for result in results})
    amount = (
        f"{tokens:,} tokens of one prompt"
        if prompts == 1
        else f"{tokens:,} tokens of {prompts} prompts"
    )
    if not apart:
        head = f"Same answer: {amount} are identical with and without MTP."
    elif is_good(results):
        head = f"Same answer up to rounding: {amount} are identical with and without MTP."
    else:
        head = f"Not the same answer: {amount} are identical, then the answers differ."
    lines = [head]
    if not any(result.check.accepted for result in results):
        lines.append("No guessed token was accepted, so this shows little.")
    return (*lines, *(_place(result) for result in apart))


def _place(result: Compared) -> str:
    check = result.check
    where = f"Prompt {result.prompt}, at token {check.tokens + 1}, {check.depth} ahead"
    if check.gap is None:
        return f"{where}: from there on they differ, or one of them has ended."
    if verdict_of(check) == "tie":
        return (
            f"{where}: two words were equally likely to {check.gap:.3f} of the spread; "
            "rounding decides there."
        )
    return (
        f"{where}: the two words are {check.gap:.2f} of the spread apart, "
        "which is more than rounding explains."
    )
