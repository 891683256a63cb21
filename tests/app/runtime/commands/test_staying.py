"""No chat goes to a server in the terminal unless its user chose the server for it."""

from __future__ import annotations

import io
import sys

import pytest

from app.base.db import Database
from app.base.folder import DataFolder
from app.servers.store import ServerStore
from app.servers.values import ServedModel, ServerInfo, ServerProfile
from app.wiring.app import open_app
from tests.support.scripted import ScriptedEngine
from tests.support.terminal import Hearth

FAR = ServerProfile("s1", "team", "http://10.9.8.7:8000")
FACTS = ServerInfo("vllm", "0.33.0", (ServedModel("tiny", 4096),), False, True)


@pytest.fixture
def chat(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> str:
    """Make a chat without a model, with a remote server's as the default; return its id."""
    app = open_app(DataFolder.default())
    chat_id = app.chats.ask(None, "My secret")[0].chat_id
    keep_server(app.database)
    app.settings.write(app.settings.read().changed("model", "team:tiny"))
    app.close()
    capsys.readouterr()
    return chat_id


def keep_server(database: Database) -> None:
    store = ServerStore(database)
    store.save(FAR)
    store.save_info(FAR.id, FACTS)


def test_a_question_in_it_is_answered_here(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str], chat: str
) -> None:
    assert hearth("ask", "And?", "--chat", chat) == 0
    out, err = capsys.readouterr()
    assert out.strip() == "Hello there"
    assert "This chat stays on this computer: nobody has chosen team:tiny for it." in err
    assert "--model team:tiny sends it there." in err
    assert len(engine.requests) == 1


def test_a_conversation_that_is_opened_goes_on_here(
    hearth: Hearth,
    engine: ScriptedEngine,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    chat: str,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"/open {chat}\nAnd?\n"))
    assert hearth("chat") == 0
    assert "/model team:tiny sends it there." in capsys.readouterr().err
    assert len(engine.requests) == 1


def test_a_new_conversation_keeps_the_model_that_it_began_with(
    hearth: Hearth, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hi\n"))
    assert hearth("chat") == 0
    app = open_app(DataFolder.default())
    try:
        keep_server(app.database)
        (chat,) = app.chats.chats()
        usual = app.settings.read().changed("model", "team:tiny")
        assert app.preparing.withheld_model(chat.id, usual) is None
    finally:
        app.close()
