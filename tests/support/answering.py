"""A Generation with all the services around messages, for tests of these services."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytestqt.qtbot import QtBot

from app.chats.answers.presenters.generation import Generation
from app.chats.answers.presenters.reproducing import Reproducing
from app.chats.answers.presenters.waiting import WaitingMessages
from app.chats.answers.values.answers import AnswerOptions
from app.chats.composer.presenters.draft_files import DraftFiles
from app.chats.history.presenters.branches import Branches
from app.chats.history.store.branches import BranchStore
from app.chats.history.store.drafts import DraftStore
from app.chats.history.store.waiting import WaitingStore
from app.chats.history.values.conversation import StoredMessage
from app.documents.reading.reader import DocumentReader
from app.documents.services.documents import Documents
from app.documents.store.documents import DocumentStore, FileCopies
from app.kit.tasks.tasks import Tasks
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from tests.support.services import Services


@dataclass
class Desk:
    """The services that a user reaches through the window, and their signals so far."""

    qtbot: QtBot
    services: Services
    tasks: Tasks
    generation: Generation
    branches: Branches
    waiting: WaitingMessages
    reproducing: Reproducing
    files: DraftFiles
    ended: list[StoredMessage] = field(default_factory=list)
    told: list[StoredMessage] = field(default_factory=list)
    errors: list[Any] = field(default_factory=list)

    def ask(self, text: str, chat_id: str | None = None, **options: Any) -> StoredMessage:
        """Ask a question and return the whole answer."""
        count = len(self.ended)
        chosen = AnswerOptions().changed(**options)
        self.generation.ask(chat_id, text, chosen, self.told.append, self.errors.append)
        self.qtbot.waitUntil(lambda: len(self.ended) > count)
        return self.ended[-1]

    def begin(self, text: str, chat_id: str | None = None) -> StoredMessage:
        """Ask a question and return the answer as soon as its first word has arrived."""
        heard: list[str] = []
        begun: list[StoredMessage] = []
        self.generation.begun.connect(begun.append)
        self.generation.text.connect(lambda answer_id, _: heard.append(answer_id))
        self.generation.ask(chat_id, text, AnswerOptions(), self.told.append, self.errors.append)
        self.qtbot.waitUntil(lambda: bool(begun) and begun[0].id in heard)
        return begun[0]

    def wait_for(self, count: int) -> None:
        """Wait until this many answers have ended since the beginning."""
        self.qtbot.waitUntil(lambda: len(self.ended) >= count)

    def wait_until_saved(self) -> None:
        """Wait until the store has done all its work and reported it."""
        done: list[None] = []
        self.tasks.run(lambda: None, done.append, self.errors.append, on="store")
        self.qtbot.waitUntil(lambda: bool(done))

    def texts(self, chat_id: str) -> list[str]:
        return [message.text for message in self.services.chats.path(chat_id)]

    def queued(self, chat_id: str) -> list[str]:
        return [item.text for item in self.waiting.of(chat_id)]


def desk(qtbot: QtBot, services: Services, folder: Path) -> Desk:
    """Make a desk. The caller closes its `tasks`."""
    tasks = Tasks()
    settings = SettingsService(SettingsFile(folder / "settings.json"))
    generation = Generation(services.chats, services.answers, settings, tasks)
    branches = Branches(BranchStore(services.database), generation, tasks)
    waiting = WaitingMessages(WaitingStore(services.database), generation, tasks)
    reproducing = Reproducing(services.chats, services.library, generation, tasks)
    documents = Documents(DocumentReader(), FileCopies(folder / "attachments"))
    database = services.database
    files = DraftFiles(DraftStore(database), DocumentStore(database), documents, tasks)
    made = Desk(qtbot, services, tasks, generation, branches, waiting, reproducing, files)
    generation.ended.connect(made.ended.append)
    generation.crashed.connect(made.errors.append)
    for part in (branches, waiting, files):
        part.failed.connect(made.errors.append)
    return made
