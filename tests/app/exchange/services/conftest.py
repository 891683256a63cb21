"""A real store that contains chats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.base.db import Database
from app.chats.answers.services.citing import Citing
from app.chats.answers.services.grounding import Grounding
from app.chats.history.store.chats import ChatStore
from app.chats.history.store.folders import FolderStore
from app.documents.store.documents import DocumentStore
from app.exchange.store.imports import ImportStore


@dataclass(frozen=True)
class Stores:
    chats: ChatStore
    folders: FolderStore
    imports: ImportStore
    citing: Citing

    def chat(self, question: str, answer: str, reasoning: str = "") -> str:
        """Make a chat of one turn and return its id."""
        _, message = self.chats.ask(None, question)
        self.chats.save_answer(replace(message, text=answer, reasoning=reasoning, state="complete"))
        return message.chat_id


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    database = Database(tmp_path / "exchange.db")
    citing = Citing(Grounding(DocumentStore(database)), lambda _: "here")
    yield Stores(ChatStore(database), FolderStore(database), ImportStore(database), citing)
    database.close()
