"""Servers for a test, and their clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx2
import pytest

from engines.cancel import CancelToken
from engines.openai.access import ServedModelAccess
from engines.openai.answering import answer
from engines.openai.client import OpenAiClient
from engines.openai.values import ServerKind
from engines.types import ChatRequest, Event
from tests.support.openai_server import OpenAiServer

CHAT = "/v1/chat/completions"
Serve = Callable[..., OpenAiServer]
Reach = Callable[..., ServedModelAccess]


def run(
    request: ChatRequest, via: ServedModelAccess, cancel: CancelToken | None = None
) -> list[Event]:
    return list(answer(request, via, cancel or CancelToken()))


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(kind: ServerKind = "vllm", **options: object) -> OpenAiServer:
            return stack.enter_context(OpenAiServer(kind, **options))  # type: ignore[arg-type]

        yield start


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False) as made:
        yield made


@pytest.fixture
def reach(client: httpx2.Client) -> Reach:
    """Return a function that gives access to a scripted server's model."""

    def way(server: OpenAiServer, **options: object) -> ServedModelAccess:
        known: dict[str, object] = {
            "kind": server.kind,
            "context": server.context,
            "tokenizes": server.kind in ("vllm", "llama-server"),
            "measures": True,
        }
        to = OpenAiClient(client, server.address)
        return ServedModelAccess(to, server.model, **{**known, **options})  # type: ignore[arg-type]

    return way
