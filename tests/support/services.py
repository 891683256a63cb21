"""Services over a real database, the real starter file and a scripted engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.assistants.store.assistants import AssistantStore
from app.base.db import Database
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.chats.answers.services.answers import Answers
from app.chats.answers.services.chat_layers import ChatLayers
from app.chats.answers.services.grounding import Grounding
from app.chats.answers.services.preparing import Preparing
from app.chats.context.services.compacting import Compacting
from app.chats.context.store import SummaryStore
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.chats import ChatStore
from app.documents.store.documents import DocumentStore
from app.models.library.services.fitting import Fitting
from app.models.library.services.library import Library
from app.models.library.store.load_records import LoadStore
from app.models.library.store.models import ModelStore
from app.runtime.services.loaders import LlamaLoader
from app.runtime.services.runtime import Runtime
from engines.hardware import detect
from engines.llamacpp.sizing.sizer import Sizer
from tests.support.scripted import ScriptedEngine


@dataclass(frozen=True)
class Services:
    """Services for a test.

    Attributes:
        seconds: The time on the runtime's clock, which a test can move.
    """

    database: Database
    engine: ScriptedEngine
    chats: ChatStore
    library: Library
    runtime: Runtime
    answers: Answers
    loads: LoadStore
    models: ModelStore
    seconds: list[float]

    def own(self, model_id: str, **values: object) -> None:
        """Give a model its own settings."""
        self.models.known.change_settings(model_id, values)

    def again(self) -> Library:
        """Return the library as the next run would open it."""
        return Library(self.models, STARTER, STARTER_DRAFTER)


@contextmanager
def make_services(folder: Path, engine: ScriptedEngine) -> Iterator[Services]:
    """Open services whose data is in a folder."""
    folder.mkdir(exist_ok=True)
    database = Database(folder / "chats.db")
    chats = ChatStore(database)
    models = ModelStore(database)
    library = Library(models, STARTER, STARTER_DRAFTER)
    loads = LoadStore(database)
    seconds = [0.0]
    runtime = Runtime(
        {"llamacpp": LlamaLoader(lambda: engine, lambda: Fitting(detect, loads, Sizer()))},
        lambda: seconds[0],
    )
    layers = ChatLayers(ChatSettingsStore(database), AssistantStore(database))
    compacting = Compacting(SummaryStore(database))
    preparing, grounding = Preparing(library, layers), Grounding(DocumentStore(database))
    answers = Answers(chats, preparing, runtime, compacting, grounding)
    with closing(database):
        yield Services(database, engine, chats, library, runtime, answers, loads, models, seconds)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with make_services(tmp_path, ScriptedEngine()) as services:
        yield services
