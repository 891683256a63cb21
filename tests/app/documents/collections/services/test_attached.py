"""Ordering the passages of attached files by meaning, within a time limit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from app.documents.collections.services.attached import AttachedVectors
from app.documents.values.documents import PASSAGE, AttachedFile, Passage, passages
from engines.cancel import CancelToken
from tests.app.documents.collections.services.conftest import House
from tests.support.attached import attached
from tests.support.made_embedding import write_bert

PAGES = attached("pages.pdf", *(f"the cat sat on mat {n}" for n in range(40)))


def parts(file: AttachedFile) -> list[tuple[AttachedFile, Passage]]:
    return [(file, passage) for passage in passages(file.document, PASSAGE)]


def test_without_an_embedding_model_there_is_no_order(house: House) -> None:
    assert house.knowledge.order("cat", parts(PAGES), [3], CancelToken()) == []


def test_the_likeliest_come_first_and_the_next_question_has_more(house: House) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    ticks: Iterator[int] = count(0, 2)  # each reading of the clock advances it by two seconds
    vectors = AttachedVectors(house.embedding, lambda: float(next(ticks)))
    first = vectors.order("the cat", parts(PAGES), [30, 31], CancelToken())
    assert len(first) == 16
    assert {30, 31} <= set(first)
    assert len(vectors.order("the cat", parts(PAGES), [30], CancelToken())) == 30
    assert vectors.order(" ", parts(PAGES), [30], CancelToken()) == []


@pytest.mark.skipif(
    not Path(os.environ.get("HEARTH_E5", "")).is_file(),
    reason="HEARTH_E5 names no model; `python -m tests.bench.real_embedder` makes one",
)
def test_a_trained_model_finds_a_page_that_has_none_of_the_words(house: House) -> None:
    house.add_model(Path(os.environ["HEARTH_E5"]).resolve())
    file = attached(
        "notes.pdf",
        "Der Hund bellt laut im Garten.",
        "Die Miete für die Wohnung beträgt 950 Euro im Monat.",
        "The ferry to the island leaves at noon.",
    )
    order = house.knowledge.order(
        "How much does the apartment cost?", parts(file), [], CancelToken()
    )
    assert order[0] == 1
