"""Creates the API server for other programs, behind its guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.api.http.server import Server
    from app.api.services.api_keys import ApiKeys
    from app.chats.answers.services.answers import Answers
    from app.models.library.services.library import Library
    from app.net.values.serving import ServeOptions
    from app.runtime.services.runtime import Runtime
    from app.settings.store import SettingsFile


def api_server(
    options: ServeOptions,
    keys: ApiKeys,
    answers: Answers,
    library: Library,
    runtime: Runtime,
    settings: SettingsFile,
    metrics: Callable[[frozenset[str] | None], str],
) -> Server:
    """Create a server that has not been started."""
    from app.api.http.api import Api
    from app.api.http.server import Server
    from app.api.http.service import ApiService
    from app.api.http.uploads import Uploads
    from app.documents.reading.reader import DocumentReader
    from app.net.values.serving import parse_aliases

    def aliases() -> dict[str, str]:
        return parse_aliases(settings.read().server_aliases)

    service = ApiService(
        answers, library, runtime, settings.read, aliases, guests=options.window_open
    )
    api = Api(service, Uploads(DocumentReader()), metrics)
    return Server(api.app, options, keys, api.error_body)
