"""Mixed-up questions, put together from parts of written ones."""

from collections.abc import Sequence
from random import Random


def mix(questions: Sequence[str], rng: Random) -> str:
    """Make a question of one or two random ones of `questions`."""
    words = rng.choice(questions).split()
    kind = rng.random()
    if kind < 0.35:
        words = _thin(words, rng)
    elif kind < 0.65:
        words = _join(words, rng.choice(questions).split(), rng)
    elif kind < 0.9:
        words = _replace(words, questions, rng)
    else:
        words = rng.sample(words, len(words))
    return " ".join(words)


def _thin(words: list[str], rng: Random) -> list[str]:
    share = rng.uniform(0.4, 0.85)
    return [word for word in words if rng.random() < share] or words


def _join(first: list[str], second: list[str], rng: Random) -> list[str]:
    return first[: rng.randint(1, len(first))] + second[rng.randint(0, len(second) - 1) :]


def _replace(words: list[str], questions: Sequence[str], rng: Random) -> list[str]:
    share = rng.uniform(0.15, 0.4)
    return [
        rng.choice(rng.choice(questions).split()) if rng.random() < share else word
        for word in words
    ]
