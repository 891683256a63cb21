"""The index of a collection: storing, finding, linking and erasing texts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import DocumentNotRead, SearchBroken
from app.documents.collections.store import collection_index
from app.documents.collections.store.collection_index import (
    LAYOUT,
    CollectionIndex,
    SeenFile,
    VectorModel,
)
from app.documents.collections.values import PathTrouble
from app.documents.values.documents import Document
from tests.support.attached import attached

LEASE = attached("lease.pdf", "The flat has two rooms.", "The rent is 950 euros a month.").document
BREAD = attached("bread.txt", "Zum Frühstück gibt es Brot mit Marmelade.").document
MODEL = VectorModel("key", "Made", 8)
OTHER = VectorModel("other", "Other", 8)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[CollectionIndex]:
    with closing(CollectionIndex(tmp_path / "index.db")) as index:
        yield index


def seen(name: str, size: int = 1, mtime: int = 1) -> SeenFile:
    return SeenFile(Path("/docs") / name, name, size, mtime)


def keep(index: CollectionIndex, **documents: Document) -> None:
    """Store files with these texts in the index."""
    index.note([seen(name) for name in documents])
    index.store_texts([(it, documents[it.seen.name]) for it in index.waiting(99)])


def names(index: CollectionIndex, question: str) -> list[str]:
    return [it.file for it in index.search("Docs", question, 10)]


def test_a_passage_is_found_with_its_place_and_its_words(index: CollectionIndex) -> None:
    keep(index, lease=LEASE, bread=BREAD)
    (found,) = index.search("Docs", "How high is the rent?", 10)
    assert (found.file, found.place.number, found.by) == ("lease", 2, ("text",))
    assert LEASE.text[found.start : found.end] == found.text == "The rent is 950 euros a month."
    assert names(index, "Fruhstuck") == ["bread"]
    assert names(index, "the of and") == []


def test_two_files_of_the_same_bytes_share_a_text(index: CollectionIndex) -> None:
    keep(index, lease=LEASE, copy=LEASE)
    assert index.counts().files == 2
    assert index.counts().passages == 2
    assert len(index.search("Docs", "rent", 10)) == 1
    index.note(removed=[it.id for it in index.known().values() if it.seen.name == "copy"])
    assert names(index, "rent") == ["lease"]


def test_what_is_gone_leaves_no_word_behind(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    with closing(CollectionIndex(path)) as index:
        keep(index, lease=LEASE, bread=BREAD)
        index.save_vectors(MODEL, index.without_vectors(MODEL, 9)[0].id, [[[1.0] * 8] * 2] * 2)
        index.note(removed=[it.id for it in index.known().values() if it.seen.name == "bread"])
        assert names(index, "Marmelade") == []
        assert index.documents([BREAD.sha256]) == {}
        while index.merge():
            pass
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"marmelade" not in path.read_bytes()
    assert b"euros" in path.read_bytes()


def test_a_changed_file_is_read_again_and_its_old_text_goes(index: CollectionIndex) -> None:
    keep(index, note=LEASE)
    index.note([seen("note", size=2)])
    assert [it.seen.size for it in index.waiting(9)] == [2]
    assert names(index, "rent") == ["note"], "the old text is found until the new one is read"
    index.store_texts([(index.waiting(9)[0], BREAD)])
    assert names(index, "rent") == []
    assert names(index, "Brot") == ["note"]


def test_a_file_whose_text_is_here_is_linked_without_being_read(index: CollectionIndex) -> None:
    keep(index, lease=LEASE)
    index.note([seen("copy")])
    (copy,) = index.waiting(9)
    assert index.has_size(LEASE.size)
    assert not index.link(copy, "f" * 64)
    assert index.link(copy, LEASE.sha256)
    assert index.counts().waiting == 0
    assert index.hash_of(copy.id) == LEASE.sha256


def test_a_file_that_cannot_be_read_is_listed_with_its_reason(index: CollectionIndex) -> None:
    index.note([seen("bad"), seen("lease")])
    bad, lease = index.waiting(9)
    index.store_texts(
        [(bad, DocumentNotRead("x", "It is damaged.", "Save it again.")), (lease, LEASE)]
    )
    (listed,) = index.files("unreadable")
    assert (listed.name, listed.why, listed.do) == ("bad", "It is damaged.", "Save it again.")
    assert [(it.name, it.places) for it in index.files()] == [("bad", 0), ("lease", 2)]
    assert [it.name for it in index.files(start=1, most=1)] == ["lease"]
    index.read_again(listed.path)
    assert [it.seen.name for it in index.waiting(9)] == ["bad"]


def test_what_a_look_has_found_is_kept(index: CollectionIndex) -> None:
    assert index.last_scan() == (None, 0, ())
    trouble = PathTrouble(Path("/docs/shut"), "Closed.", away=True)
    index.record_scan(12.5, 3, [trouble])
    index.save_devices({"/docs": 66})
    assert index.last_scan() == (12.5, 3, (trouble,))
    assert index.devices() == {"/docs": 66}


def test_vectors_find_what_words_do_not(index: CollectionIndex) -> None:
    keep(index, lease=LEASE, bread=BREAD)
    along, across = [1.0] * 8, [1.0, -1.0] * 4
    lease, bread = index.without_vectors(MODEL, 9)
    assert (lease.name, lease.passages[1]) == ("lease", "The rent is 950 euros a month.")
    index.save_vectors(MODEL, lease.id, [[across] * 2, [along] * 2])
    index.save_vectors(MODEL, bread.id, [[[-1.0] * 8] * 2])
    assert index.without_vectors(MODEL, 9) == []
    assert index.with_vectors(MODEL) == 3
    found = index.search("Docs", "Brot", 10, (MODEL, along))
    assert [(it.file, it.by) for it in found][:2] == [
        ("bread", ("text", "vector")),
        ("lease", ("vector",)),
    ]
    assert found[1].text == "The rent is 950 euros a month."


def test_another_model_takes_over_when_its_vectors_are_complete(index: CollectionIndex) -> None:
    keep(index, bread=BREAD)
    (text,) = index.without_vectors(MODEL, 9)
    index.save_vectors(MODEL, text.id, [[[1.0] * 8] * 2])
    index.switch_model(MODEL)
    index.save_vectors(OTHER, text.id, [[[1.0] * 8] * 2])
    assert index.model() == MODEL
    assert index.search("Docs", "", 9, (MODEL, [1.0] * 8))[0].by == ("vector",)
    index.switch_model(OTHER)
    assert index.model() == OTHER
    assert index.with_vectors(MODEL) == 0
    assert index.search("Docs", "", 9, (MODEL, [1.0] * 8)) == []


def test_words_that_are_everywhere_do_not_hold_up_a_search(
    index: CollectionIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_index, "MATCHED", 3)
    pages = [f"Contract number {n} about rooms and money." for n in range(9)]
    keep(index, many=attached("many.pdf", *pages, "Contract with a kiln about rooms.").document)
    assert [it.place.number for it in index.search("Docs", "contract kiln", 9)] == [10]
    assert len(index.search("Docs", "contract rooms money", 99)) == 9


def test_files_that_may_have_a_quote_are_asked(index: CollectionIndex) -> None:
    keep(index, lease=LEASE, bread=BREAD)
    assert index.with_words("rent is 950 euros") == [(LEASE.sha256, "lease")]
    assert index.with_words("950 eu-\nros of rent") == [(LEASE.sha256, "lease")]
    assert index.with_words("a spaceship of gold") == []


ZH = attached(
    "zh.txt", "合同终止并交还钥匙后六个月之内。\n出租人退还押\n金。", "用Python编程。"
).document
JA = attached("ja.txt", "赤いランプが点滅した場合は、かす受けを取り外してください。").document
TH = attached("th.txt", "ถ้าลาป่วยเกินสามวันต้องส่งใบรับรองแพทย์").document
FR = attached("fr.txt", "La franchise s'élève à trois cents euros. Modèle QX-77.").document


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("押金什么时候可以退还", "zh"),
        ("Python", "zh"),
        ("ランプが点滅したのですが", "ja"),
        ("ลาป่วยกี่วัน", "th"),
        ("Quelle est la franchise que je paie ?", "fr"),
        ("QX77", "fr"),
        ("qx 77", "fr"),
    ],
)
def test_words_are_found_in_any_script(index: CollectionIndex, question: str, file: str) -> None:
    keep(index, lease=LEASE, bread=BREAD, zh=ZH, ja=JA, th=TH, fr=FR)
    assert names(index, question)[0] == file


def test_a_text_without_spaces_leaves_no_word_behind(index: CollectionIndex) -> None:
    keep(index, lease=LEASE, zh=ZH)
    index.note(removed=[it.id for it in index.known().values() if it.seen.name == "zh"])
    assert names(index, "押金 Python 钥匙") == []


@pytest.mark.parametrize(
    ("quote", "file"),
    [("交还钥匙后六个月之内", "zh"), ("出租人退还押金", "zh"), ("かす受けを取り外して", "ja")],
)
def test_files_that_may_have_a_quote_without_spaces_are_asked(
    index: CollectionIndex, quote: str, file: str
) -> None:
    keep(index, lease=LEASE, zh=ZH, ja=JA, th=TH)
    assert [name for _, name in index.with_words(quote)] == [file]
    assert index.with_words("火星没有月亮山") == []


@pytest.mark.parametrize("content", [b"no database at all" * 99, b""])
def test_a_damaged_index_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(content)
    with closing(CollectionIndex(path)) as index:
        assert index.counts().files == 0


def test_an_index_of_another_layout_is_begun_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index.db"
    with closing(CollectionIndex(path)) as index:
        keep(index, lease=LEASE)
    with closing(CollectionIndex(path)) as index:
        assert index.counts().files == 1
    other = replace(collection_index.KIND, layout=LAYOUT + 1)
    monkeypatch.setattr(collection_index, "KIND", other)
    with closing(CollectionIndex(path)) as index:
        assert index.counts().files == 0


def test_an_index_that_is_damaged_while_it_is_open_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    documents = {f"f{n}": attached(f"f{n}", f"number {n} " * 900).document for n in range(40)}
    with closing(CollectionIndex(path)) as index:
        keep(index, **documents)
    with closing(CollectionIndex(path)) as index:
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (path.stat().st_size - 8192))
        with pytest.raises(SearchBroken, match="being rebuilt"):
            index.search("Docs", "number", 9)
        assert index.files() == []
        keep(index, lease=LEASE)
        assert names(index, "rent") == ["lease"]
