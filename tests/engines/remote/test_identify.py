"""Servers are recognised by their own descriptions."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from engines.errors import ServerFailed, ServerRefused
from engines.openai.client import OpenAiClient
from engines.openai.values import ServedModel, ServerInfo, ServerKind
from engines.remote.identify import identify
from tests.support.openai_server import OpenAiServer, Reply


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    with httpx2.Client(trust_env=False) as made:
        yield made


FOUND = [
    ServerInfo("vllm", "0.32.0", (ServedModel("tiny", 512),), False, True),
    ServerInfo("llama-server", "b9999-abc", (ServedModel("tiny", 512, 1234, 5678),), None, True),
    ServerInfo("lmstudio", "", (ServedModel("tiny", 512, sees=False),), None, False),
    ServerInfo("ollama", "0.12.3", (ServedModel("tiny"),), None, False),
    ServerInfo("sglang", "0.5.5", (ServedModel("tiny", 512),), None, False),
    ServerInfo("openai", "", (ServedModel("tiny"),), None, False),
]


@pytest.mark.parametrize("facts", FOUND, ids=lambda it: it.kind)
def test_a_server_is_named(client: httpx2.Client, facts: ServerInfo) -> None:
    with OpenAiServer(facts.kind) as server:
        assert identify(OpenAiClient(client, server.address)) == facts


def test_drafts_of_vllm_show_in_its_metrics(client: httpx2.Client) -> None:
    with OpenAiServer() as server:
        server.drafts = True
        assert identify(OpenAiClient(client, server.address)).mtp is True
        server.script("/metrics", Reply(b"", 403))
        assert identify(OpenAiClient(client, server.address)).mtp is None


@pytest.mark.parametrize("kind", ["vllm", "llama-server", "openai"])
def test_without_the_key_it_says_so(client: httpx2.Client, kind: ServerKind) -> None:
    with OpenAiServer(kind, api_key="sk-x") as server:
        with pytest.raises(ServerRefused):
            identify(OpenAiClient(client, server.address))
        headers = {"Authorization": "Bearer sk-x"}
        assert identify(OpenAiClient(client, server.address, headers)).models


def test_a_list_that_anybody_sees_says_nothing_of_the_key(client: httpx2.Client) -> None:
    """Some versions of llama-server list their models without a key."""
    with OpenAiServer("llama-server", api_key="sk-x") as server:
        listed = b'{"data": [{"id": "tiny", "owned_by": "llamacpp"}]}'
        server.script("/v1/models", Reply(listed), Reply(listed))
        with pytest.raises(ServerRefused):
            identify(OpenAiClient(client, server.address))
        server.script("/props", Reply(b"<html>no such page</html>", 404, "text/html"))
        assert identify(OpenAiClient(client, server.address)).kind == "llama-server"


@pytest.mark.parametrize("body", [b"<html>Router</html>", b"[]", b'{"data": 3}'])
def test_something_else_is_said_to_be_that(client: httpx2.Client, body: bytes) -> None:
    with OpenAiServer() as server:
        server.script("/v1/models", Reply(body))
        with pytest.raises(ServerFailed, match="Something else"):
            identify(OpenAiClient(client, server.address))
