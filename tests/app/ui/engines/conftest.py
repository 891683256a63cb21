"""The real window, with engines and servers that say what a test tells them to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.network.servers import ServedModel, ServerFacts, ServerProfile
from app.presenters.engine_list import EngineList
from app.presenters.server_list import ServerList
from app.presenters.settings import SettingsService
from app.presenters.tasks import Tasks
from app.presenters.window import LazyServices
from app.wiring import Core, visits, window
from tests.support.scripted_engines import ScriptedCare, ScriptedSeams, ScriptedServers

TEAM = ServerProfile("id-team", "team", "https://ai.example.org:8000")
NEAR = ServerProfile("id-near", "near", "http://127.0.0.1:11434")
FACTS = ServerFacts(
    "vllm", "0.33.0", (ServedModel("qwen3-32b", 32_768), ServedModel("gemma-4", None)), True, True
)


@pytest.fixture
def care() -> ScriptedCare:
    return ScriptedCare()


@pytest.fixture
def seams() -> ScriptedSeams:
    return ScriptedSeams()


@pytest.fixture
def servers() -> ScriptedServers:
    return ScriptedServers([TEAM, NEAR], {TEAM.address: FACTS})


@pytest.fixture(autouse=True)
def _scripted(
    monkeypatch: pytest.MonkeyPatch,
    care: ScriptedCare,
    seams: ScriptedSeams,
    servers: ScriptedServers,
) -> None:
    made = visits.makers

    def makers(core: Core, settings: SettingsService, tasks: Tasks) -> LazyServices:
        return replace(
            made(core, settings, tasks),
            engines=lambda stop_answers: EngineList(care, seams, stop_answers, tasks),
            servers=lambda: ServerList(servers, tasks),
        )

    monkeypatch.setattr(window, "makers", makers)
