"""A window's Generation over several engines, with everything that it reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.chats.answers.presenters.generation import Generation
from app.chats.answers.values.answers import AnswerOptions
from app.chats.history.values.conversation import StoredMessage
from app.kit.tasks.tasks import Tasks
from app.runtime.values.wait import Wait
from app.settings.presenters import SettingsService
from app.settings.store import SettingsFile
from tests.support.houses import House


@dataclass
class Desk:
    """A Generation, and everything that it reported."""

    house: House
    tasks: Tasks
    generation: Generation
    qtbot: QtBot
    begun: list[StoredMessage] = field(default_factory=list)
    ended: dict[str, StoredMessage] = field(default_factory=dict)
    text: dict[str, str] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    waits: list[tuple[str, Wait | None]] = field(default_factory=list)
    crashed: list[Exception] = field(default_factory=list)

    def __post_init__(self) -> None:
        generation = self.generation
        generation.begun.connect(self.begun.append)
        generation.ended.connect(lambda answer: self.ended.update({answer.id: answer}))
        generation.text.connect(self._take)
        generation.waits.connect(lambda answer_id, wait: self.waits.append((answer_id, wait)))
        generation.crashed.connect(self.crashed.append)

    def _take(self, answer_id: str, text: str) -> None:
        self.text[answer_id] = self.text.get(answer_id, "") + text
        self.pieces.append(answer_id)

    def ask(
        self,
        model: str,
        text: str = "What is Hearth?",
        chat: str | None = None,
        grammar: str | None = None,
    ) -> str:
        """Ask a question; return the id of the answer, which has begun or waits for its turn."""
        count = len(self.begun)
        options = AnswerOptions({"model": model, "mtp": "off"}, grammar=grammar)
        self.generation.ask(chat, text, options, lambda _: None, self.crashed.append)
        self.until(lambda: len(self.begun) > count)
        return self.begun[-1].id

    def chat_of(self, answer_id: str) -> str:
        return next(it.chat_id for it in self.begun if it.id == answer_id)

    def until(self, condition: Callable[[], bool], patience_ms: int = 30_000) -> None:
        self.qtbot.waitUntil(condition, timeout=patience_ms)

    def until_text(self, *answer_ids: str) -> None:
        self.until(lambda: all(self.text.get(it) for it in answer_ids))

    def until_ended(self, *answer_ids: str) -> None:
        self.until(lambda: all(it in self.ended for it in answer_ids))

    def saved(self, answer_id: str) -> StoredMessage:
        messages = self.house.chats.messages(self.chat_of(answer_id))
        return next(it for it in messages if it.id == answer_id)


@contextmanager
def a_desk(house: House, qtbot: QtBot, folder: Path) -> Iterator[Desk]:
    tasks = Tasks()
    settings = SettingsService(SettingsFile(folder / "settings.json"))
    with closing(tasks):
        yield Desk(house, tasks, Generation(house.chats, house.answers, settings, tasks), qtbot)
