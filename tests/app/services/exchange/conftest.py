"""A real store with chats in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.services.answers.citing import Citing
from app.services.answers.grounding import Grounding
from app.store.chats import ChatStore
from app.store.db import Database
from app.store.documents import DocumentStore
from app.store.folders import FolderStore
from app.store.imports import ImportStore


@dataclass(frozen=True)
class Stores:
    chats: ChatStore
    folders: FolderStore
    imports: ImportStore
    citing: Citing

    def chat(self, question: str, answer: str, reasoning: str = "") -> str:
        """Make a chat; returns its id."""
        _, message = self.chats.ask(None, question)
        self.chats.save_answer(replace(message, text=answer, reasoning=reasoning, state="complete"))
        return message.chat_id


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    database = Database(tmp_path / "exchange.db")
    citing = Citing(Grounding(DocumentStore(database)), lambda _: "here")
    yield Stores(ChatStore(database), FolderStore(database), ImportStore(database), citing)
    database.close()
