"""A server for clients on loopback, over a scripted engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2
import pytest
import uvicorn

from app.core.settings.fields import Settings
from app.server.api import Api
from app.server.service import ApiService
from engines.types import Usage
from tests.support.scripted import ScriptedEngine
from tests.support.services import Services, services


@dataclass
class Served:
    """A server that runs. told: the model and the usage of each request that was answered."""

    url: str
    engine: ScriptedEngine
    services: Services
    settings: Settings = field(default_factory=Settings)
    aliases: dict[str, str] = field(default_factory=dict)
    told: list[tuple[str, Usage]] = field(default_factory=list)

    def post(self, path: str, body: object) -> httpx2.Response:
        return httpx2.post(self.url + path, json=body, timeout=30)

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(self.url + path, timeout=30)


@contextmanager
def serving(services: Services) -> Iterator[Served]:
    served = Served("", services.engine, services)
    service = ApiService(
        services.answers,
        services.library,
        services.runtime,
        lambda: served.settings,
        lambda: served.aliases,
    )
    api = Api(service, lambda _request, model, usage: served.told.append((model, usage)))
    server = uvicorn.Server(uvicorn.Config(api.app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.005)
        (listening,) = server.servers
        served.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield served
    finally:
        api.close()
        server.should_exit = True
        thread.join()


@pytest.fixture
def served(services: Services) -> Iterator[Served]:
    with serving(services) as served:
        yield served


__all__ = ["services"]
