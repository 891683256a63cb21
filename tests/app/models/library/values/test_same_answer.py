"""The wording of the results of comparing answers."""

from __future__ import annotations

from app.models.library.values.same_answer import PromptComparison, in_words, is_good, verdict_of
from engines.types import MtpCheck

SAME = MtpCheck(True, 64, 2, 40)
TIE = MtpCheck(False, 36, 4, 9, gap=0.001)
APART = MtpCheck(False, 10, 1, 3, gap=0.31)


def test_all_the_same() -> None:
    found = [PromptComparison(number, SAME) for number in range(1, 9)]
    assert is_good(found)
    assert in_words(found) == (
        "Same answer: 512 tokens of 8 prompts are identical with and without MTP.",
    )


def test_a_tie_is_shown_and_is_good() -> None:
    found = [PromptComparison(1, SAME), PromptComparison(2, TIE)]
    assert verdict_of(TIE) == "tie"
    assert is_good(found)
    head, place = in_words(found)
    assert head.startswith("Same answer up to rounding: 100 tokens of 2 prompts")
    assert place == (
        "Prompt 2, at token 37, 4 ahead: two words were equally likely to 0.001 of the spread; "
        "rounding decides there."
    )


def test_a_difference_is_never_hidden() -> None:
    found = [PromptComparison(1, SAME), PromptComparison(2, TIE), PromptComparison(3, APART)]
    assert not is_good(found)
    head, *places = in_words(found)
    assert head.startswith("Not the same answer")
    assert len(places) == 2
    assert "Prompt 3, at token 11" in places[1]
    assert "0.31 of the spread" in places[1]


def test_an_unknown_gap_is_no_tie() -> None:
    unknown = MtpCheck(False, 5, 2, 1)
    assert verdict_of(unknown) == "different"
    assert "has ended" in in_words([PromptComparison(1, unknown)])[1]


def test_a_check_without_any_accepted_guess_says_how_little_it_shows() -> None:
    found = [PromptComparison(1, MtpCheck(True, 64, 2, 0))]
    assert in_words(found)[1] == "No guessed token was accepted, so this shows little."
