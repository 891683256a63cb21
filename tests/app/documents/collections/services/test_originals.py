"""Finding files of collections by their hashes, and noticing changes."""

from __future__ import annotations

from pathlib import Path

from app.documents.reading.reader import DocumentReader
from app.documents.services.documents import Documents
from app.documents.store.documents import FileCopies
from engines.cancel import CancelToken
from tests.app.documents.collections.services.conftest import House


def test_a_file_of_a_collection_is_there_until_it_changes_or_goes(
    house: House, docs: Path, tmp_path: Path
) -> None:
    collection = house.collection("Docs", docs)
    house.work()
    copies = FileCopies(tmp_path / "attachments")
    originals = Documents(DocumentReader(), copies, house.knowledge.paths_of)
    (found,) = house.knowledge.search([collection], "rent", 1, CancelToken())
    lease = docs / "lease.md"
    assert originals.copy_of(found.document) == lease
    assert originals.state_of(found.document) == "here"
    lease.write_text("# Rent\n\nThe rent is 990 euros a month.\n", encoding="utf-8")
    assert originals.state_of(found.document) == "changed"
    lease.unlink()
    assert originals.state_of(found.document) == "missing"
    assert originals.copy_of("0" * 64) is None
    assert originals.state_of("0" * 64) == "missing"


def test_the_copy_of_an_attached_file_comes_first(house: House, docs: Path, tmp_path: Path) -> None:
    house.collection("Docs", docs)
    house.work()
    copies = FileCopies(tmp_path / "attachments")
    documents = Documents(DocumentReader(), copies, house.knowledge.paths_of)
    file = documents.read(docs / "lease.md", CancelToken())
    documents.save_copies([(docs / "lease.md", file)])
    (docs / "lease.md").unlink()
    assert documents.state_of(file.document.sha256) == "here"
    path = documents.copy_of(file.document.sha256)
    assert path is not None
    assert path.is_relative_to(tmp_path / "attachments")
