"""The real window with scripted engines and servers."""

from __future__ import annotations

from functools import cached_property

import pytest

from app.runtime.presenters.engine_list import EngineList
from app.servers.presenters import ServerList
from app.servers.values import ServedModel, ServerInfo, ServerProfile
from app.wiring.window import WindowApp
from tests.support.scripted_engines import ScriptedInstaller, ScriptedManager, ScriptedServers

TEAM = ServerProfile("id-team", "team", "https://ai.example.org:8000")
NEAR = ServerProfile("id-near", "near", "http://127.0.0.1:11434")
FACTS = ServerInfo(
    "vllm", "0.33.0", (ServedModel("qwen3-32b", 32_768), ServedModel("gemma-4", None)), True, True
)


@pytest.fixture
def installer() -> ScriptedInstaller:
    return ScriptedInstaller()


@pytest.fixture
def manager() -> ScriptedManager:
    return ScriptedManager()


@pytest.fixture
def servers() -> ScriptedServers:
    return ScriptedServers([TEAM, NEAR], {TEAM.address: FACTS})


@pytest.fixture(autouse=True)
def _scripted(
    monkeypatch: pytest.MonkeyPatch,
    installer: ScriptedInstaller,
    manager: ScriptedManager,
    servers: ScriptedServers,
) -> None:
    def engines(services: WindowApp) -> EngineList:
        return EngineList(installer, manager, services.generation.stop_all, services.tasks)

    def listed(services: WindowApp) -> ServerList:
        return ServerList(servers, services.tasks)

    for name, make in (("engines", engines), ("servers", listed)):
        made = cached_property(make)
        made.__set_name__(WindowApp, name)
        monkeypatch.setattr(WindowApp, name, made)
