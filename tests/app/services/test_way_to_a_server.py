"""What is changed in a server's profile holds from the next answer on, and the old way ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.core.network.servers import ServerProfile
from app.services.answers.answers import AnswerOptions
from app.store.folder import DataFolder
from app.wiring import Core, open_core
from engines.cancel import CancelToken
from engines.errors import ServerRefused
from engines.types import Message, TextDelta
from tests.support.openai_server import OpenAiServer


@pytest.fixture
def core(data_dir: Path) -> Iterator[Core]:
    core = open_core(DataFolder(data_dir))
    yield core
    core.close()


def asked(core: Core) -> str:
    events = core.answers.once(
        (Message("user", "What is Hearth?"),),
        core.settings.read(),
        AnswerOptions(model="team:tiny"),
        lambda _: None,
        CancelToken(),
    )
    return "".join(it.text for it in events if isinstance(it, TextDelta))


def keys(server: OpenAiServer) -> list[str]:
    """With which of them it was asked for answers."""
    return [it.headers.get("authorization", "") for it in server.asked if "chat" in it.path]


def test_a_server_that_has_moved_is_asked_where_it_is_now(core: Core) -> None:
    with OpenAiServer("vllm") as before, OpenAiServer("vllm") as now:
        team = core.servers.save(ServerProfile("", "team", before.address), None)
        core.servers.test(team)
        assert asked(core)
        core.servers.test(core.servers.save(replace(team, address=now.address), None))
        assert asked(core)
        assert (len(before.chats()), len(now.chats())) == (1, 1)


def test_a_key_that_was_taken_away_is_shown_no_more(core: Core) -> None:
    with OpenAiServer("vllm") as server:
        team = core.servers.save(ServerProfile("", "team", server.address), "sk-one")
        core.servers.test(team)
        for key in (None, "sk-two", ""):
            core.servers.save(team, key)
            assert asked(core)
        assert keys(server) == ["Bearer sk-one", "Bearer sk-two", ""]


def test_a_key_that_another_program_has_set_is_taken_once_the_old_one_is_refused(
    core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAiServer("vllm", api_key="sk-old") as server:
        monkeypatch.setenv("HEARTH_KEY_TEAM", "sk-old")
        core.servers.test(core.servers.save(ServerProfile("", "team", server.address), None))
        assert asked(core)
        server.api_key = "sk-new"
        monkeypatch.setenv("HEARTH_KEY_TEAM", "sk-new")
        with pytest.raises(ServerRefused):
            asked(core)
        assert asked(core)
        assert keys(server) == ["Bearer sk-old", "Bearer sk-old", "Bearer sk-new"]
