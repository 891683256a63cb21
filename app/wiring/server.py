"""The server that other programs ask: the API behind its guard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from app.core.network.serving import ServeOptions
    from app.server.server import Server
    from app.services.api_keys import ApiKeys


def api_server(options: ServeOptions, keys: ApiKeys) -> Server:
    """Make a server that has not been started."""
    from app.server.server import Server

    return Server(_api(), options, keys, _error_body)


def _api() -> ASGIApp:
    """Make the API: so far it says that it is there."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"})

    return Starlette(routes=[Route("/health", health)])


def _error_body(_path: str, _status: int, kind: str, message: str) -> Mapping[str, Any]:
    """Write an error as OpenAI's clients read it."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": kind}}
