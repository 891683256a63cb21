"""The presenter of assistants, presets and prompts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.assistants.presenters.assistants import Assistants
from app.assistants.presenters.prompts import Prompts
from app.assistants.store.assistants import AssistantStore
from app.assistants.store.prompts import PromptStore
from app.assistants.values.prompts import SavedPrompt
from app.base.db import Database
from app.base.errors import PromptsNotRead
from app.kit.tasks.tasks import STORE, Tasks
from app.settings.values.fields import Settings
from tests.support.outcomes import outcome


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "chats.db")
    yield database
    database.close()


@pytest.fixture
def tasks(qtbot: QtBot, database: Database) -> Iterator[Tasks]:
    tasks = Tasks()
    yield tasks
    tasks.close()


def settle(qtbot: QtBot, tasks: Tasks) -> None:
    """Wait until every queued change is in the database."""
    done: list[object] = []
    tasks.run(lambda: None, done.append, done.append, on=STORE)
    qtbot.waitUntil(lambda: bool(done))


def test_a_draft_becomes_an_assistant_of_the_users(
    qtbot: QtBot, tasks: Tasks, database: Database
) -> None:
    service = Assistants(AssistantStore(database), tasks)
    draft = next(it for it in service.suggested() if it.id == "translation")
    with qtbot.waitSignal(service.changed):
        made = service.copy(draft, {"language": "German"})
    assert made.name == "Translate into German"
    assert "{{" not in made.system_prompt
    assert service.copy(draft, {"language": "German"}).name == "Translate into German 2"
    settle(qtbot, tasks)
    assert Assistants(AssistantStore(database), tasks).get(made.id) == made


def test_what_was_added_is_not_suggested_again(tasks: Tasks, database: Database) -> None:
    service = Assistants(AssistantStore(database), tasks)
    draft = next(it for it in service.suggested() if it.id == "coding")
    made = service.copy(draft)
    assert "coding" not in [it.id for it in service.suggested()]
    service.remove(made.id)
    assert "coding" in [it.id for it in service.suggested()]


def test_what_was_removed_can_come_back(qtbot: QtBot, tasks: Tasks, database: Database) -> None:
    service = Assistants(AssistantStore(database), tasks)
    made = service.copy(service.suggested()[0])
    removed = service.remove(made.id)
    assert removed == made
    assert service.get(made.id) is None
    service.save(removed)
    settle(qtbot, tasks)
    assert AssistantStore(database).assistants() == [made]
    assert service.remove("none") is None


def test_a_preset_keeps_how_answers_are_drawn(
    qtbot: QtBot, tasks: Tasks, database: Database
) -> None:
    service = Assistants(AssistantStore(database), tasks)
    preset = service.create_preset("Creative", Settings(temperature=0.33))
    assert (preset.name, preset.settings["temperature"]) == ("Creative 2", 0.33)
    settle(qtbot, tasks)
    assert Assistants(AssistantStore(database), tasks).presets()[-1] == preset
    service.remove_preset(preset.id)
    assert service.remove_preset("exact") is None
    assert [it.id for it in service.presets()] == ["exact", "balanced", "lively"]


def test_prompts_go_out_and_come_in(
    qtbot: QtBot, tasks: Tasks, database: Database, tmp_path: Path
) -> None:
    prompts = Prompts(PromptStore(database), tasks)
    prompts.create("Letter", "Dear {{name}}")
    prompts.create("Letter", "Another")
    assert [it.name for it in prompts.all()] == ["Letter", "Letter 2"]
    path = tmp_path / "prompts.json"
    assert outcome(qtbot, partial(prompts.export, path)) == path
    prompts.remove(prompts.all()[0].id)
    assert outcome(qtbot, partial(prompts.import_file, path)) == 1
    assert {(it.name, it.text) for it in prompts.all()} == {
        ("Letter", "Dear {{name}}"), ("Letter 2", "Another"),
    }  # fmt: skip
    settle(qtbot, tasks)
    assert PromptStore(database).prompts() == prompts.all()


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"not json", None])
def test_a_file_that_is_none_is_refused_and_nothing_changes(
    qtbot: QtBot, tasks: Tasks, database: Database, tmp_path: Path, content: bytes | None
) -> None:
    prompts = Prompts(PromptStore(database), tasks)
    prompts.save(SavedPrompt("1", "A", "a"))
    path = tmp_path / "prompts.json"
    if content is not None:
        path.write_bytes(content)
    assert isinstance(outcome(qtbot, partial(prompts.import_file, path)), PromptsNotRead)
    assert [it.name for it in prompts.all()] == ["A"]
