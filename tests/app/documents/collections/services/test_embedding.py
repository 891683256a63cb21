"""Embedding models: choosing and running one, and finding passages by meaning."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from app.base.errors import ModelUnknown
from app.documents.collections.store.collection_index import VectorModel
from app.documents.values.documents import halves
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.models.embedding import EVERYDAY
from tests.app.documents.collections.services.conftest import House
from tests.support.made_embedding import write_bert

FACTS = {
    "miete.txt": "Die Miete für die Wohnung beträgt 950 Euro im Monat und ist im Voraus zu zahlen.",
    "hund.txt": "Der Hund bellt laut im Garten und vergräbt seinen Knochen unter dem Apfelbaum.",
    "invoice.txt": "Payment is due within thirty days of the invoice date; late fees apply.",
    "bread.txt": "Zum Frühstück gibt es frisches Brot mit Butter und Marmelade.",
    "ship.txt": "The ferry to the island leaves at noon from the northern pier.",
}
QUESTIONS = {
    "How much does the apartment cost?": "miete.txt",
    "Which animal makes a noise outdoors?": "hund.txt",
    "In wie vielen Tagen ist eine Rechnung fällig?": "invoice.txt",
    "What do people eat in the morning?": "bread.txt",
    "Wann fährt das Schiff ab?": "ship.txt",
}


def test_what_made_vectors_is_told_from_all_others(house: House) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    model = house.embedding.model()
    assert model is not None
    assert (model.name, model.dimensions) == ("bert", 64)
    assert house.embedding.can(model)
    assert not house.embedding.can(VectorModel("other", "bert", 64))
    house.settings = house.settings.changed("embedding_model", "two")
    house.add_model(write_bert(house.folder / "two.gguf", 2))
    other = house.embedding.model()
    assert other is not None
    assert other.key != model.key


def test_a_file_that_moved_is_the_same_model(house: House) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    before = house.embedding.model()
    (house.folder / "bert.gguf").rename(house.folder / "moved.gguf")
    assert house.embedding.model() is None
    house.add_model(house.folder / "moved.gguf")
    after = house.embedding.model()
    assert before is not None
    assert after is not None
    assert before.key == after.key


def test_vectors_that_nobody_here_can_make_are_an_error(house: House) -> None:
    with pytest.raises(ModelUnknown, match="embedding model “gone”"):
        house.embedding.question(VectorModel("x", "gone", 64), "Hello", CancelToken())


def test_vectors_are_without_what_all_of_a_model_have_in_common(house: House) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    model = house.embedding.model()
    assert model is not None
    vectors = np.array(house.embedding.passages(model, EVERYDAY, CancelToken()))[:, 0]
    asked = np.array(house.embedding.question(model, "the cat", CancelToken()))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(EVERYDAY)), abs=1e-5)
    assert np.linalg.norm(asked) == pytest.approx(1.0, abs=1e-5)
    assert np.linalg.norm(vectors.mean(axis=0)) < 0.3


def test_each_half_of_a_passage_has_a_vector_and_a_short_one_is_both(house: House) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    model = house.embedding.model()
    assert model is not None
    passage = "the cat sat " * 25 + "on a mat " * 33
    parts = halves(passage)
    (long, first, second) = house.embedding.passages(model, (passage, *parts), CancelToken())
    assert first[0] == first[1] == pytest.approx(long[0], abs=1e-4)
    assert second[0] == second[1] == pytest.approx(long[1], abs=1e-4)
    assert first[0] != pytest.approx(second[0], abs=1e-2)


def test_a_passage_that_is_too_long_for_the_model_is_read_from_its_beginning(house: House) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    model = house.embedding.model()
    assert model is not None
    long, short = house.embedding.passages(model, ["the cat " * 900, "the cat sat"], CancelToken())
    assert [len(vector) for vector in (*long, *short)] == [64] * 4
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        house.embedding.passages(model, ["the cat"], cancel)


@pytest.mark.skipif(
    not Path(os.environ.get("HEARTH_E5", "")).is_file(),
    reason="HEARTH_E5 names no model; `python -m tests.bench.real_embedder` makes one",
)
def test_a_trained_model_finds_the_meaning_in_another_language(house: House) -> None:
    house.add_model(Path(os.environ["HEARTH_E5"]).resolve())
    folder = house.folder / "facts"
    folder.mkdir()
    for name, text in FACTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    facts = house.collection("Facts", folder)
    house.work()
    first = {question: house.found(facts, question)[0] for question in QUESTIONS}
    assert first == QUESTIONS
