"""The chat shown on a page: its signals, and changes of its settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistants.presenters.assistants import Assistants
from app.assistants.store.assistants import AssistantStore
from app.chats.history.presenters.chat_settings import ChatSettings
from app.chats.history.presenters.chats import Chats
from app.chats.history.presenters.drafts import Drafts
from app.chats.history.store.chat_lists import ChatLists
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.drafts import DraftStore
from app.chats.history.store.folders import FolderStore
from app.chats.presenters.open_chat import OpenChat
from app.kit.tasks.tasks import Tasks
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from tests.support.services import Services


class Watched:
    """An open chat and a list of its signals in order."""

    def __init__(self, services: Services, tasks: Tasks, folder: Path) -> None:
        database = services.database
        settings = SettingsService(SettingsFile(folder / "settings.json"))
        assistants = Assistants(AssistantStore(database), tasks)
        self.chat_settings = ChatSettings(
            ChatSettingsStore(database), assistants, services.library, settings, tasks
        )
        drafts = Drafts(DraftStore(database), tasks)
        chats = Chats(
            services.chats,
            ChatLists(database),
            FolderStore(database),
            drafts,
            lambda _: None,
            tasks,
        )
        self.chat = OpenChat(chats, self.chat_settings)
        self.heard: list[str] = []
        self.chat.opened.connect(lambda is_other: self._hear("other" if is_other else "same"))
        self.chat.stored.connect(lambda: self._hear("stored"))
        self.chat.changed.connect(lambda: self._hear("changed"))

    def _hear(self, word: str) -> None:
        self.heard.append(f"{word} {'new' if self.chat.id is None else 'old'}")


@pytest.fixture
def watched(qtbot: QtBot, services: Services, tmp_path: Path) -> Iterator[Watched]:
    tasks = Tasks()
    yield Watched(services, tasks, tmp_path)
    tasks.close()


def test_it_begins_as_the_new_chat(watched: Watched) -> None:
    chat = watched.chat
    assert chat.id is None
    assert chat.listed is None
    assert chat.begins is not None


def test_listeners_know_whether_the_chat_is_another(watched: Watched, services: Services) -> None:
    question, _ = services.chats.ask(None, "Hi")
    for chat_id in (question.chat_id, question.chat_id, None):
        watched.chat.open(chat_id)
    assert watched.heard == ["other old", "same old", "other new"]


def test_a_chat_that_has_begun_has_a_title(watched: Watched, services: Services) -> None:
    question, _ = services.chats.ask(None, "Hi")
    watched.chat.open(question.chat_id)
    assert watched.chat.listed is not None
    assert watched.chat.listed.title == "Hi"
    assert watched.chat.begins is None


def test_a_stored_chat_leaves_fresh_settings_to_the_next(
    watched: Watched, services: Services
) -> None:
    chat = watched.chat
    chat.set("top_k", 9)
    question, _ = services.chats.ask(None, "Hi", begins=chat.begins)
    chat.adopt(question.chat_id)
    assert watched.heard == ["changed new", "stored old"]
    assert chat.settings.top_k == 9
    assert watched.chat_settings.own(None).settings == {}


def test_only_its_own_settings_change_it(watched: Watched, services: Services) -> None:
    question, _ = services.chats.ask(None, "Hi")
    watched.chat_settings.set(question.chat_id, "top_k", 9)
    assert watched.heard == []
    watched.chat.open(question.chat_id)
    watched.chat_settings.set(question.chat_id, "top_k", 8)
    assert watched.heard == ["other old", "changed old"]
    assert watched.chat.settings.top_k == 8
