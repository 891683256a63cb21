"""A server for clients on loopback, over a scripted engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx2
import uvicorn
from starlette.types import ASGIApp

from app.core.settings.fields import Settings
from app.server.api import Api
from app.server.service import ApiService
from engines.types import Usage
from tests.support.scripted import ScriptedEngine
from tests.support.services import Services


@dataclass
class Served:
    """A server that runs. app: what it serves.

    told: the model and the usage of each request that was answered.
    """

    engine: ScriptedEngine
    services: Services
    url: str = ""
    app: ASGIApp | None = None
    settings: Settings = field(default_factory=Settings)
    aliases: dict[str, str] = field(default_factory=dict)
    told: list[tuple[str, Usage]] = field(default_factory=list)

    def post(self, path: str, body: object) -> httpx2.Response:
        return httpx2.post(self.url + path, json=body, timeout=30)

    def get(self, path: str) -> httpx2.Response:
        return httpx2.get(self.url + path, timeout=30)


@contextmanager
def serving(
    services: Services, around: Callable[[ASGIApp], ASGIApp] = lambda app: app
) -> Iterator[Served]:
    """around: what the server's app is wrapped into."""
    served = Served(services.engine, services)
    service = ApiService(
        services.answers,
        services.library,
        services.runtime,
        lambda: served.settings,
        lambda: served.aliases,
    )
    api = Api(service, lambda _request, model, usage: served.told.append((model, usage)))
    served.app = around(api.app)
    server = uvicorn.Server(uvicorn.Config(served.app, port=0, log_level="warning"))
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
