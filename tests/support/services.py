"""Services over a real database, the real starter file and a scripted engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.services.answers.answers import Answers
from app.services.answers.chat_layers import ChatLayers
from app.services.answers.compacting import Compacting
from app.services.answers.grounding import Grounding
from app.services.engines.loaders import LlamaLoader
from app.services.engines.runtime import Runtime
from app.services.models.fitting import Fitting
from app.services.models.library import Library
from app.store.assistants import AssistantStore
from app.store.chat_settings import ChatSettingsStore
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.documents import DocumentStore
from app.store.load_records import LoadStore
from app.store.models import ModelStore
from app.store.summaries import SummaryStore
from app.wiring.shipped import STARTER, STARTER_DRAFTER
from engines.hardware import detect
from engines.llamacpp.sizing.sizer import Sizer
from tests.support.scripted import ScriptedEngine


@dataclass(frozen=True)
class Services:
    database: Database
    engine: ScriptedEngine
    chats: ChatStore
    library: Library
    runtime: Runtime
    answers: Answers
    loads: LoadStore
    models: ModelStore

    def own(self, model_id: str, **values: object) -> None:
        """Give a model settings of its own."""
        self.models.known.change_settings(model_id, values)

    def again(self) -> Library:
        """The library of the next run."""
        return Library(self.models, STARTER, STARTER_DRAFTER)


@contextmanager
def make_services(folder: Path, engine: ScriptedEngine) -> Iterator[Services]:
    """Services whose data is in a folder."""
    folder.mkdir(exist_ok=True)
    database = Database(folder / "chats.db")
    chats = ChatStore(database)
    models = ModelStore(database)
    library = Library(models, STARTER, STARTER_DRAFTER)
    loads = LoadStore(database)
    runtime = Runtime(
        {"llamacpp": LlamaLoader(lambda: engine, lambda: Fitting(detect, loads, Sizer()))}
    )
    layers = ChatLayers(ChatSettingsStore(database), AssistantStore(database))
    compacting = Compacting(SummaryStore(database))
    answers = Answers(
        chats, library, runtime, layers, compacting, Grounding(DocumentStore(database))
    )
    with closing(database):
        yield Services(database, engine, chats, library, runtime, answers, loads, models)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with make_services(tmp_path, ScriptedEngine()) as services:
        yield services
