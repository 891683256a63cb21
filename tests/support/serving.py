"""A server for clients on loopback, over a scripted engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from starlette.types import ASGIApp

from app.activity.services.exposition import Exposition
from app.api.http.api import Api
from app.api.http.server import Server
from app.api.http.service import ApiService
from app.api.http.uploads import Uploads
from app.api.services.api_keys import ApiKeys
from app.api.store import ApiClientStore
from app.base.secrets import Secrets
from app.documents.reading.reader import DocumentReader
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.settings.values.fields import Settings
from tests.support.scripted import ScriptedEngine
from tests.support.services import Services


@dataclass
class Served:
    """A running server.

    Attributes:
        app: The app that it serves.
        keys: The clients' keys and their use.
    """

    engine: ScriptedEngine
    services: Services
    url: str = ""
    app: ASGIApp | None = None
    settings: Settings = field(default_factory=Settings)
    aliases: dict[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> ApiKeys:
        return ApiKeys(Secrets(), ApiClientStore(self.services.database))

    def post(self, path: str, body: object, key: str = "") -> httpx2.Response:
        return httpx2.post(self.url + path, json=body, headers=_with(key), timeout=60)

    def get(self, path: str, key: str = "") -> httpx2.Response:
        return httpx2.get(self.url + path, headers=_with(key), timeout=60)


def _with(key: str) -> dict[str, str]:
    return {"x-api-key": key} if key else {}


@contextmanager
def serving(
    services: Services, around: Callable[[ASGIApp], ASGIApp] = lambda app: app, **more: Any
) -> Iterator[Served]:
    """Run a server.

    Args:
        services: The services that answer.
        around: Wraps the server's app.
        more: More of the `ServeOptions`.
    """
    served = Served(services.engine, services)
    service = ApiService(
        services.answers,
        services.library,
        services.runtime,
        lambda: served.settings,
        lambda: served.aliases,
    )
    exposition = Exposition(services.runtime)
    api = Api(service, Uploads(DocumentReader()), exposition.text)
    served.app = around(api.app)
    options = ServeOptions(Address(LOOPBACK, 0), needs_token=False, **more)
    server = Server(served.app, options, served.keys, api.error_body)
    with ExitStack() as ends:
        server.start()
        ends.callback(server.stop)
        served.url = server.url
        yield served
