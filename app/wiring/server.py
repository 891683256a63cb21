"""The server that other programs ask: the API behind its guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.core.network.serving import ServeOptions
    from app.server.server import Server
    from app.services.answers.answers import Answers
    from app.services.api_keys import ApiKeys
    from app.services.engines.runtime import Runtime
    from app.services.models.library import Library
    from app.store.settings_file import SettingsFile


def api_server(
    options: ServeOptions,
    keys: ApiKeys,
    answers: Answers,
    library: Library,
    runtime: Runtime,
    settings: SettingsFile,
    metrics: Callable[[frozenset[str] | None], str],
) -> Server:
    """Make a server that has not been started."""
    from app.core.network.serving import aliases_named
    from app.documents.reader import DocumentReader
    from app.server.api import Api
    from app.server.server import Server
    from app.server.service import ApiService
    from app.server.uploads import Uploads

    def aliases() -> dict[str, str]:
        return aliases_named(settings.read().server_aliases)

    service = ApiService(answers, library, runtime, settings.read, aliases, guests=options.beside)
    api = Api(service, Uploads(DocumentReader()), metrics)
    return Server(api.app, options, keys, api.error_body)
