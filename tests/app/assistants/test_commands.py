"""`hearth assistants` and `hearth ask --assistant`, with a scripted engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.assistants.store.assistants import AssistantStore
from app.assistants.values.assistants import Assistant
from app.base.db import Database
from app.base.folder import DataFolder
from app.cli.main import main
from engines.llamacpp import engine as llamacpp_engine
from tests.support.scripted import ScriptedEngine

POET = Assistant("abc123", "Poet", "Rhyme.", "On what?", settings={"temperature": 0.25})


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> ScriptedEngine:
    engine = ScriptedEngine()
    monkeypatch.setattr(llamacpp_engine, "LlamaCppEngine", lambda *_, **__: engine)
    return engine


@pytest.fixture
def poet(data_dir: Path) -> None:
    folder = DataFolder(data_dir)
    folder.prepare()
    database = Database(folder.database)
    AssistantStore(database).save(POET)
    database.close()


def test_they_are_listed_and_shown(poet: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assistants", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["name"] == "Poet"
    assert main(["assistants", "show", "poet"]) == 0
    shown = capsys.readouterr().out
    for words in ("Poet", "On what?", "Temperature", "0.25", "Rhyme."):
        assert words in shown


def test_one_is_removed(poet: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assistants", "rm", "abc"]) == 0
    assert "Removed “Poet”" in capsys.readouterr().out
    assert main(["assistants", "list"]) == 0
    assert "No assistants yet" in capsys.readouterr().out


def test_an_unknown_one_is_refused(poet: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assistants", "show", "Painter", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "assistant_not_found"


def test_a_question_is_answered_as_the_assistant_says(
    poet: None, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "Hi", "--assistant", "Poet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == "Hello there"
    (request,) = engine.requests
    assert [it.text for it in request.messages] == ["Rhyme.", "Hi"]
    assert request.sampling.temperature == 0.25


def test_what_is_asked_goes_before_the_assistant(
    poet: None, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["ask", "Hi", "--assistant", "Poet", "--temperature", "0.5", "--system", "Be brief."]
    assert main(words) == 0
    (request,) = engine.requests
    assert request.messages[0].text == "Be brief."
    assert request.sampling.temperature == 0.5


def test_an_assistant_is_not_given_to_a_chat(
    poet: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", "Hi", "--assistant", "Poet", "--chat", "x"]) == 2
    assert "cannot be given together" in capsys.readouterr().err


def test_one_with_a_setting_of_another_version_is_shown(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = DataFolder(data_dir)
    folder.prepare()
    database = Database(folder.database)
    AssistantStore(database).save(Assistant("d", "Later", settings={"colour": "red"}))
    database.close()
    assert main(["assistants", "show", "later"]) == 0
    assert "red" in capsys.readouterr().out
