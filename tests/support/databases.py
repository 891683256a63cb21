"""A separate database for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.base.db import Database
from app.chats.history.store.chats import ChatStore


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "chats.db")
    yield database
    database.close()


@pytest.fixture
def chats(database: Database) -> ChatStore:
    return ChatStore(database)
