"""Indexing collections: reading new and changed files once, keeping and removing the rest."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from app.base.errors import CollectionNameInvalid, CollectionUnknown, NothingToIndex
from app.documents.collections.services import embedding
from app.documents.collections.services.indexing import Politeness
from app.documents.collections.store.vectors import MAKING
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.app.documents.collections.services.conftest import House
from tests.support.made_embedding import write_bert


def test_a_folder_is_read_and_what_cannot_be_read_is_listed(house: House, docs: Path) -> None:
    lease = house.collection("Lease", docs)
    state = house.knowledge.state(lease)
    assert (state.files, state.looked) == (0, None)
    doing = [it.doing for it in house.work()]
    assert doing[0] == "looking"
    assert doing[-1] == "reading"
    state = house.knowledge.state("lease")
    assert (state.files, state.waiting, state.unreadable, state.passages) == (3, 0, 1, 2)
    assert state.looked is not None
    assert state.model == ""
    (bad,) = house.knowledge.files(lease, "unreadable")
    assert (bad.name, bad.why) == ("bad.pdf", "The file is damaged or not complete.")
    assert house.found(lease, "How high is the rent?") == ["lease.md"]


def test_only_what_has_changed_is_read_again(house: House, docs: Path) -> None:
    lease = house.collection("Lease", docs)
    house.work()
    house.read.clear()
    house.work()
    assert house.read == []
    (docs / "lease.md").write_text("The rent is 990 euros by now.", encoding="utf-8")
    (docs / "new.txt").write_text("A new file.", encoding="utf-8")
    (docs / "food" / "bread.txt").unlink()
    house.work()
    assert sorted(house.read) == ["lease.md", "new.txt"]
    assert house.found(lease, "990") == ["lease.md"]
    assert house.found(lease, "950") == []
    assert house.found(lease, "Frühstück") == []


def test_a_file_that_was_renamed_moved_or_copied_is_not_read_anew(house: House, docs: Path) -> None:
    lease = house.collection("Lease", docs)
    house.work()
    house.read.clear()
    (docs / "food").rename(docs / "kitchen")
    (docs / "lease.md").rename(docs / "contract.md")
    shutil.copy(docs / "contract.md", docs / "copy.md")
    house.work()
    assert house.read == []
    assert [it.name for it in house.knowledge.files(lease)] == [
        "bad.pdf", "contract.md", "copy.md", "kitchen/bread.txt",
    ]  # fmt: skip
    assert house.found(lease, "rent") == ["contract.md"]


def test_a_folder_that_is_not_there_just_now_keeps_its_index(house: House, docs: Path) -> None:
    lease = house.collection("Lease", docs)
    house.work()
    docs.rename(docs.with_name("unplugged"))
    house.work()
    assert house.found(lease, "rent") == ["lease.md"]
    (trouble,) = house.knowledge.state(lease).troubles
    assert (trouble.path, trouble.away) == (docs, True)
    house.knowledge.remove_path(lease, docs)
    house.work()
    assert house.knowledge.state(lease).files == 0
    assert house.found(lease, "rent") == []


def test_the_work_goes_on_after_a_restart(make_house: Callable[[], House], docs: Path) -> None:
    for at in range(70):
        (docs / f"{at:02}.txt").write_text(f"Number {at}.", encoding="utf-8")
    house = make_house()
    lease, cancel = house.collection("Lease", docs), CancelToken()
    work = house.knowledge.work(cancel, only=lease)
    assert next(it for it in work if it.doing == "reading").total == 73
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(work)
    state = house.knowledge.state(lease)
    assert 0 < state.waiting < state.files == 73
    house.knowledge.close()
    again = make_house()
    again.work()
    assert again.knowledge.state(lease).waiting == 0
    assert len(house.read) + len(again.read) == 73


def test_a_collection_that_is_paused_waits_and_its_work_stops_at_once(
    house: House, docs: Path
) -> None:
    for at in range(70):
        (docs / f"{at:02}.txt").write_text(f"Number {at}.", encoding="utf-8")
    lease = house.collection("Lease", docs)
    for it in house.knowledge.work(CancelToken()):
        if it.doing == "reading":
            house.knowledge.pause(lease, paused=True)
    waiting = house.knowledge.state(lease).waiting
    assert waiting > 0
    assert house.work() == []
    assert house.work(only=lease), "who waits for it in the terminal has it done anyway"
    house.knowledge.pause(lease, paused=False)
    house.work()
    assert house.knowledge.state(lease).waiting == 0


def test_a_collection_that_is_removed_leaves_nothing_behind(house: House, docs: Path) -> None:
    lease, other = house.collection("Lease", docs), house.collection("Other", docs / "food")
    house.work()
    house.knowledge.remove(lease)
    left = {path.name.partition(".")[0] for path in (house.folder / "knowledge").iterdir()}
    assert left == {other}
    assert (docs / "lease.md").exists()
    with pytest.raises(CollectionUnknown):
        house.knowledge.state(lease)


def test_a_collection_that_is_removed_while_it_is_read_is_gone_afterwards(
    house: House, docs: Path
) -> None:
    lease = house.collection("Lease", docs)
    for it in house.knowledge.work(CancelToken()):
        if it.doing == "reading":
            house.knowledge.remove(lease)
    assert list((house.folder / "knowledge").iterdir()) == []


def test_an_index_that_belongs_to_nobody_is_removed(house: House, docs: Path) -> None:
    house.collection("Lease", docs)
    house.work()
    with sqlite3.connect(house.folder / "chats.db") as db:
        db.execute("DELETE FROM collections")
    house.work()
    assert list((house.folder / "knowledge").iterdir()) == []


def test_one_hearth_at_a_time_works_on_a_collection(
    make_house: Callable[[], House], docs: Path
) -> None:
    house, other = make_house(), make_house()
    lease = house.collection("Lease", docs)
    work = house.knowledge.work(CancelToken())
    next(work)
    assert other.knowledge.is_locked_elsewhere(lease)
    assert other.work() == []
    assert list(work)
    assert not other.knowledge.is_locked_elsewhere(lease)
    assert other.found(lease, "rent") == ["lease.md"]


def test_names_and_paths_that_cannot_be_are_refused(house: House, docs: Path) -> None:
    house.collection("Lease", docs)
    for name in ("", "  ", "x" * 81, "lease"):
        with pytest.raises(CollectionNameInvalid):
            house.knowledge.create(name)
    other = house.knowledge.create("Other")
    with pytest.raises(CollectionNameInvalid):
        house.knowledge.rename(other.id, "LEASE")
    assert house.knowledge.rename(other.id, "Mine").name == "Mine"
    with pytest.raises(NothingToIndex):
        house.knowledge.add(other.id, [docs / "nowhere"])
    with pytest.raises(CollectionUnknown):
        house.knowledge.find("nothing")


def test_what_could_not_be_read_can_be_tried_again(house: House, docs: Path) -> None:
    lease = house.collection("Lease", docs)
    house.work()
    house.read.clear()
    house.knowledge.read_again(lease)
    house.work()
    assert house.read == ["bad.pdf"]


def test_a_quote_is_held_against_all_texts(house: House, docs: Path) -> None:
    lease = house.collection("Lease", docs)
    house.work()
    (found,) = house.knowledge.check([lease], "The  rent is\n950 euros")
    assert (found.verdict, found.name, found.spans[0].place.number) == ("found", "lease.md", 1)
    assert house.knowledge.check([lease], "The rent is 960 euros") == ()
    assert house.knowledge.documents([found.document, "0" * 64]).keys() == {found.document}


def test_without_an_embedding_model_words_alone_are_searched_and_it_is_said(
    house: House,
) -> None:
    status = house.knowledge.embedder()
    assert (status.model, status.why) == (None, "There is no embedding model on this computer yet.")


def test_an_embedding_model_makes_vectors_of_all_passages(house: House, docs: Path) -> None:
    bert = house.add_model(write_bert(house.folder / "bert.gguf"))
    lease = house.collection("Lease", docs)
    doing = [it.doing for it in house.work()]
    assert doing[-1] == "vectors"
    state = house.knowledge.state(lease)
    assert (state.with_vectors, state.model, state.next_model) == (2, "bert", "")
    assert house.knowledge.embedder().model == bert
    assert house.knowledge.embedder().choices == (bert,)
    found = house.knowledge.search([lease], "rent", 9, CancelToken())
    assert {it.by for it in found} == {("text", "vector"), ("vector",)}


def test_vectors_can_be_turned_off(house: House, docs: Path) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    lease = house.collection("Lease", docs)
    house.settings = house.settings.changed("embedding_model", "off")
    assert {it.doing for it in house.work()} == {"looking", "reading"}
    assert "turned off" in house.knowledge.embedder().why
    assert house.found(lease, "rent") == ["lease.md"]
    house.settings = house.settings.changed("embedding_model", "gone")
    assert "“gone”" in house.knowledge.embedder().why


def test_another_model_makes_a_new_index_while_the_old_one_is_searched(
    house: House, docs: Path
) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    lease = house.collection("Lease", docs)
    house.work()
    other = write_bert(house.folder / "other.gguf", 2)
    house.add_model(other)
    house.settings = house.settings.changed("embedding_model", "other")
    state = house.knowledge.state(lease)
    assert (state.model, state.next_model, state.with_vectors) == ("bert", "other", 0)
    assert "bread.txt" in "".join(house.found(lease, "rent")), "by the vectors of the old one"
    house.work()
    state = house.knowledge.state(lease)
    assert (state.model, state.next_model, state.with_vectors) == ("other", "", 2)


def test_vectors_that_were_made_in_another_way_are_made_anew(
    make_house: Callable[[], House], docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = make_house()
    house.add_model(write_bert(house.folder / "bert.gguf"))
    lease = house.collection("Lease", docs)
    monkeypatch.setattr(embedding, "MAKING", MAKING - 1)
    house.work()
    house.knowledge.close()
    monkeypatch.undo()
    house = make_house()
    assert house.knowledge.state(lease).with_vectors == 0
    assert house.found(lease, "rent") == ["lease.md"], "by its words meanwhile"
    assert house.work()[-1].doing == "vectors"
    assert house.read == [], "no file is read again for that"
    assert house.knowledge.state(lease).with_vectors == 2
    assert len(house.found(lease, "rent")) == 2


def test_vectors_wait_while_somebody_waits_for_an_answer(house: House, docs: Path) -> None:
    house.add_model(write_bert(house.folder / "bert.gguf"))
    lease, asked = house.collection("Lease", docs), [True, False]
    rested: list[float] = []
    politeness = Politeness(busy=lambda: bool(asked) and asked.pop(0), rest=rested.append)
    house.work(lease, politeness)
    assert asked == []
    assert house.knowledge.state(lease).with_vectors == 2
    assert rested


def test_a_question_is_searched_by_words_where_its_vector_cannot_be_made(
    house: House, docs: Path
) -> None:
    model = write_bert(house.folder / "bert.gguf")
    house.add_model(model)
    lease = house.collection("Lease", docs)
    house.work()
    house.runtime.unload()
    model.write_bytes(model.read_bytes()[:-4096])
    assert house.found(lease, "rent") == ["lease.md"]
