"""Services over a real database, the real starter file and a scripted engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.services.answers import Answers
from app.services.library import Library
from app.services.runtime import Runtime
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.models import ModelStore
from app.wiring import STARTER, STARTER_DRAFTER
from engines.hardware import detect
from tests.support.scripted import ScriptedEngine


@dataclass(frozen=True)
class Services:
    engine: ScriptedEngine
    chats: ChatStore
    library: Library
    runtime: Runtime
    answers: Answers


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    database = Database(tmp_path / "chats.db")
    engine = ScriptedEngine()
    chats = ChatStore(database)
    library = Library(ModelStore(database), STARTER, STARTER_DRAFTER)
    runtime = Runtime(engine, detect)
    yield Services(engine, chats, library, runtime, Answers(chats, library, runtime))
    database.close()
