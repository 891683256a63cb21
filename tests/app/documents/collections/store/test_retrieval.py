"""The questions of the retrieval benchmark: their number, and the results of full text alone."""

from __future__ import annotations

from collections import Counter

from tests.bench.retrieval import full_text, haystack, in_scripts, measure


def test_there_are_200_questions_half_of_them_german() -> None:
    files, questions = haystack(guides=False)
    assert Counter(it.language for it in questions) == {"en": 100, "de": 100}
    texts = {file.name: file.document.text for file in files}
    for question in questions:
        assert question.text not in texts[question.file], "the answer's file does not hold it"
        assert 80 < question.end - question.start < 1000
    assert len({it.text for it in questions}) == 200
    assert len({it.first for it in questions}) == 200
    assert sum(it.text != it.first for it in questions) == 44


def test_full_text_alone_finds_as_many_as_it_did() -> None:
    """Only three in ten: the questions avoid the words of the passages that answer them."""
    files, questions = haystack(guides=False)
    assert measure(full_text(files), questions).right >= 60


def test_questions_in_scripts_without_spaces_find_their_passages() -> None:
    """They are in Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese, Hindi and French."""
    files, questions = in_scripts()
    assert len({it.language for it in questions}) == 9
    search = full_text(files)
    assert measure(lambda it: search(it)[:1], questions).missed == ()
