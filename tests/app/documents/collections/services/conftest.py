"""Collections of real files, with a real index and an embedding model made for llama.cpp."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.documents.collections.services.embedding import Embedding
from app.documents.collections.services.indexing import Politeness
from app.documents.collections.services.knowledge import Knowledge
from app.documents.collections.store.collections import CollectionStore
from app.documents.collections.values import IndexProgress
from app.documents.reading.reader import DocumentReader
from app.documents.values.documents import Document
from app.models.library.services.fitting import Fitting
from app.models.library.services.library import Library
from app.models.library.store.load_records import LoadStore
from app.models.library.store.models import ModelStore
from app.models.library.values.entry import ModelEntry
from app.runtime.services.loaders import LlamaLoader
from app.runtime.services.runtime import Runtime
from app.settings.values.fields import Settings
from engines.cancel import CancelToken
from engines.hardware import detect
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.sizing.sizer import Sizer
from tests.support.trusting import TrustingProbe


@dataclass
class House:
    """The parts that collections need.

    Attributes:
        settings: The settings; a test may replace them.
        runtime: The runtime of the embedding model alone.
    """

    folder: Path
    database: Database
    library: Library
    models: ModelStore
    runtime: Runtime
    embedding: Embedding
    knowledge: Knowledge
    read: list[str]
    settings: Settings = field(default_factory=Settings)

    def work(
        self, only: str | None = None, politeness: Politeness | None = None
    ) -> list[IndexProgress]:
        """Bring all indexes up to date."""
        return list(self.knowledge.work(CancelToken(), politeness, only))

    def collection(self, name: str, *paths: Path) -> str:
        """Make a collection of these paths without reading them, and return its id."""
        made = self.knowledge.create(name)
        return self.knowledge.add(made.id, paths).id

    def found(self, collection: str, question: str) -> list[str]:
        """Return the names of the files with matches, best first and without repeats."""
        found = self.knowledge.search([collection], question, 9, CancelToken())
        return list(dict.fromkeys(it.file for it in found))

    def add_model(self, path: Path) -> ModelEntry:
        return self.library.find(self.models.add(path.stem, path, drafts=False, reserved=()))


class CountedReader:
    """A real reader that records the names of the files it reads."""

    def __init__(self, read: list[str]) -> None:
        self._many = DocumentReader().many()
        self._read = read

    def read(self, path: Path, cancel: CancelToken, name: str = "") -> Document:
        self._read.append(name)
        return self._many.read(path, cancel, name)

    def close(self) -> None:
        self._many.close()


@pytest.fixture
def make_house(tmp_path: Path) -> Iterator[Callable[[], House]]:
    """Return a function that opens the same data folder, as each start of Hearth would."""
    with ExitStack() as opened:

        def make() -> House:
            database = opened.enter_context(closing(Database(tmp_path / "chats.db")))
            models, loads = ModelStore(database), LoadStore(database)
            library = Library(models, STARTER, STARTER_DRAFTER)
            loader = LlamaLoader(
                lambda: LlamaCppEngine(probe=TrustingProbe()),
                lambda: Fitting(detect, loads, Sizer()),
            )
            runtime = Runtime({"llamacpp": loader})
            read: list[str] = []
            embedding = Embedding(library, runtime, lambda: made.settings)
            knowledge = Knowledge(
                CollectionStore(database),
                tmp_path / "knowledge",
                lambda: CountedReader(read),
                embedding,
            )
            opened.callback(knowledge.close)
            made = House(tmp_path, database, library, models, runtime, embedding, knowledge, read)
            return made

        yield make


@pytest.fixture
def house(make_house: Callable[[], House]) -> House:
    return make_house()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Make a folder with a lease, a recipe and a damaged file."""
    folder = tmp_path / "docs"
    (folder / "food").mkdir(parents=True)
    (folder / "lease.md").write_text("# Rent\n\nThe rent is 950 euros a month.\n", encoding="utf-8")
    (folder / "food" / "bread.txt").write_text("Zum Frühstück gibt es Brot.", encoding="utf-8")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    return folder
