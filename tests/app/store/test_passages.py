"""Passages are found by the words of a question, in German and English."""

from __future__ import annotations

import pytest

from app.core.documents import passages
from app.store.passages import find_passages
from tests.support.attached import attached

PAGES = (
    "The lease begins on 1 March and may be terminated with three months' notice.",
    "Die Miete beträgt 840 Euro im Monat, zahlbar bis zum dritten Werktag.",
    "Haustiere dürfen nur mit Zustimmung der Vermieterin gehalten werden.",
    "The deposit of 2,520 euros is returned within six months.",
    "Schönheitsreparaturen übernimmt die Mieterin nach der Straßenordnung nicht.",
)
FILLERS = tuple(f"This page, number {number}, is left empty." for number in range(12))


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("How long is the notice for termination?", 0),
        ("Wie hoch ist die monatliche Miete?", 1),
        ("Darf ich ein Haustier halten?", 2),
        ("When do I get my deposits back?", 3),
        ("Wer macht die Schoenheitsreparatur und die schönheitsreparatur?", 4),
        ("2,520", 3),
    ],
)
def test_the_passage_that_answers_comes_first(question: str, page: int) -> None:
    everything = list(passages(attached("lease.pdf", *PAGES).document, 1000))
    assert find_passages(everything, question, 5)[0][0] == page


def test_a_question_without_telling_words_finds_by_what_it_has() -> None:
    everything = list(passages(attached("a.pdf", "who are you", "nothing").document, 1000))
    assert find_passages(everything, "Who are you?", 5)[0][0] == 0
    assert find_passages(everything, '?! "*', 5) == []
    assert find_passages(everything, "zebra NEAR(x) OR -", 5) == []


def test_a_passage_weighs_as_much_as_it_has_of_the_question() -> None:
    everything = list(passages(attached("lease.pdf", *PAGES, *FILLERS).document, 1000))
    ((_, whole), *_) = find_passages(everything, "deposit returned within six months", 5)
    ((_, stray), *_) = find_passages(everything, "deposit of zinc on tubular bells", 5)
    ((_, common), *_) = find_passages(everything, "page zinc tubular", 5)
    assert whole > 0.8
    assert 0.01 < stray < 0.2
    assert common < 0.01


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("Which force does my wrench need when I mount AX-4711 again?", 0),
        ("Mein Programm sagt heute früh DISK_FULL, was kann ich da machen?", 1),
        ("Wie viel MwSt muss im Jahr 2031 auf dieser Quittung stehen?", 2),
    ],
)
def test_a_passage_that_has_what_the_question_names_weighs_most(question: str, page: int) -> None:
    pages = ("AX-4711 takes 40 Nm.", "DISK_FULL: leeren.", "Die MwSt ist 19.", "AX-4712 takes 50.")
    everything = list(passages(attached("a.pdf", *pages, *PAGES, *FILLERS).document, 1000))
    ((first, weight), *others) = find_passages(everything, question, 5)
    assert (first, weight) == (page, 1.0)
    assert all(weight < 0.5 for _, weight in others)


def test_what_many_passages_name_says_little() -> None:
    pages = [f"X200, chapter {number}." for number in range(20)]
    everything = list(passages(attached("a.pdf", *pages, *FILLERS).document, 1000))
    question = "Where does the X200 say how it is cleaned with vinegar?"
    assert all(weight < 0.5 for _, weight in find_passages(everything, question, 5))


def test_a_passage_ends_where_a_paragraph_does_and_loses_nothing() -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(40))
    file = attached("a.txt", text)
    found = list(passages(file.document, 1000))
    assert "".join(it.text for it in found) == text
    assert all(it.text.endswith("\n\n") for it in found[:-1])
    assert all(len(it.text) <= 1000 for it in found)
    assert all(text[it.span.start : it.span.end] == it.text for it in found)


def test_a_text_without_any_space_is_divided_too() -> None:
    found = list(passages(attached("a.txt", "x" * 2500).document, 1000))
    assert [len(it.text) for it in found] == [1000, 1000, 500]
