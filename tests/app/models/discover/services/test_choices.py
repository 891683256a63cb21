"""The choices that a repository offers."""

from __future__ import annotations

from dataclasses import replace

from app.models.discover.services.choices import choices_of, most_parameters
from engines.memory.fit import Verdict, judge
from tests.support.scripted_hub import GB, repository


def within(free: int, asked: list[int]) -> list[tuple[str, str, bool]]:
    def quick(size: int) -> Verdict:
        asked.append(size)
        return judge(size, free)

    found = choices_of(repository(), quick)
    return [(it.variant.label, it.fits, it.recommended) for it in found]


def test_each_size_is_judged_with_what_comes_along() -> None:
    asked: list[int] = []
    found = within(5 * GB, asked)
    assert [label for label, _, _ in found] == ["Q2_K", "Q4_K_M", "Q6_K", "Q8_0", "F16"]
    assert round((2.9 + 0.3) * GB) in asked
    assert [fits for _, fits, _ in found] == ["fits", "tight", "no", "no", "no"]


def test_one_is_recommended_if_any_runs() -> None:
    assert [label for label, _, best in within(20 * GB, []) if best] == ["Q8_0"]
    assert [label for label, _, best in within(6 * GB, []) if best] == ["Q4_K_M"]
    assert [label for label, _, best in within(1 * GB, []) if best] == []


def test_a_repository_without_models_offers_nothing() -> None:
    empty = replace(repository(), files=(), variants=())
    assert choices_of(empty, lambda _: "fits") == ()


def test_the_most_parameters_grow_with_the_memory() -> None:
    # 7 billion at 4.9 bits are 4.3 GB, which is 85 % of 5.04 GB.
    assert most_parameters(5_100_000_000) > 7 * 10**9 > most_parameters(5_000_000_000)
