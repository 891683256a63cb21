"""Changes of a server's profile apply from the next answer on, and old connections end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.folder import DataFolder
from app.chats.answers.values.answers import AnswerOptions
from app.servers.values import ServerProfile
from app.wiring.app import App, open_app
from engines.cancel import CancelToken
from engines.errors import ServerRefused
from engines.types import Message, TextDelta
from tests.support.openai_server import OpenAiServer


@pytest.fixture
def app(data_dir: Path) -> Iterator[App]:
    app = open_app(DataFolder(data_dir))
    yield app
    app.close()


def asked(app: App) -> str:
    events = app.answers.once(
        (Message("user", "What is Hearth?"),),
        app.settings.read(),
        AnswerOptions({"model": "team:tiny"}),
        lambda _: None,
        CancelToken(),
    )
    return "".join(it.text for it in events if isinstance(it, TextDelta))


def keys(server: OpenAiServer) -> list[str]:
    """Return the keys that came with requests for answers."""
    return [it.headers.get("authorization", "") for it in server.asked if "chat" in it.path]


def test_a_server_that_has_moved_is_asked_where_it_is_now(app: App) -> None:
    with OpenAiServer("vllm") as before, OpenAiServer("vllm") as now:
        team = app.servers.save(ServerProfile("", "team", before.address), None)
        app.servers.test(team)
        assert asked(app)
        app.servers.test(app.servers.save(replace(team, address=now.address), None))
        assert asked(app)
        assert (len(before.chats()), len(now.chats())) == (1, 1)


def test_a_key_that_was_taken_away_is_shown_no_more(app: App) -> None:
    with OpenAiServer("vllm") as server:
        team = app.servers.save(ServerProfile("", "team", server.address), "sk-one")
        app.servers.test(team)
        for key in (None, "sk-two", ""):
            app.servers.save(team, key)
            assert asked(app)
        assert keys(server) == ["Bearer sk-one", "Bearer sk-two", ""]


def test_a_key_that_another_program_has_set_is_taken_once_the_old_one_is_refused(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAiServer("vllm", api_key="sk-old") as server:
        monkeypatch.setenv("HEARTH_KEY_TEAM", "sk-old")
        app.servers.test(app.servers.save(ServerProfile("", "team", server.address), None))
        assert asked(app)
        server.api_key = "sk-new"
        monkeypatch.setenv("HEARTH_KEY_TEAM", "sk-new")
        with pytest.raises(ServerRefused):
            asked(app)
        assert asked(app)
        assert keys(server) == ["Bearer sk-old", "Bearer sk-old", "Bearer sk-new"]
