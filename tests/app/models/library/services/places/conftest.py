"""A library with models in every supported place, all within the test's folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.models.library.services.library import Library
from app.models.library.services.manager import ModelManager
from app.models.library.services.places.found_models import FoundModels
from app.models.library.services.places.places import Places
from app.models.library.store.models import ModelStore
from tests.app.models.library.services.places.layouts import some_model


@dataclass
class Here:
    """A computer with folders of models.

    Attributes:
        root: The folder that contains the others.
        database: Where the library stores its entries.
        further: Folders that the user added; a test may add more.
    """

    root: Path
    database: Database
    further: list[Path]

    def __post_init__(self) -> None:
        self.own, self.hub, self.ollama = (self.root / it for it in ("own", "hub", "ollama"))
        self.lm_studio, self.jan = self.root / "lmstudio", self.root / "jan"
        self.gpt4all = self.root / "gpt4all"
        self.own.mkdir(parents=True, exist_ok=True)
        self.places = places = Places(
            self.hub, (self.ollama,), (self.lm_studio,), (self.jan,), (self.gpt4all,), None
        )
        self.store = store = ModelStore(self.database)
        self.collection = FoundModels(places, self.own, lambda: self.further)
        self.library = Library(store, STARTER, STARTER_DRAFTER, self.collection)
        self.care = ModelManager(self.library, store, self.collection)

    def again(self) -> Here:
        """Return the same computer after a restart."""
        return Here(self.root, self.database, self.further)

    def ids(self) -> list[str]:
        return [entry.id for entry in self.library.entries()][1:]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Here]:
    database = Database(tmp_path / "chats.db")
    yield Here(tmp_path / "computer", database, [])
    database.close()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return some_model(tmp_path / "sources" / "m.gguf")


@pytest.fixture
def trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Redirect the trash to a folder of the test; send2trash itself moves the files there."""
    from send2trash import plat_other

    monkeypatch.setattr(plat_other, "HOMETRASH_B", os.fsencode(tmp_path / "trash"))
    monkeypatch.setattr(plat_other, "get_dev", lambda _: 1)
    return tmp_path / "trash" / "files"
