"""Every field of every endpoint, broken in every way: a client's mistake never causes a crash."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import httpx2
import pytest

from tests.app.api.http.bodies import BODIES, broken
from tests.support.serving import Served


@pytest.mark.parametrize("endpoint", BODIES)
def test_a_broken_field_is_refused_with_a_reason(
    served: Served, endpoint: str, exhaustive: bool
) -> None:
    path = endpoint.partition("#")[0]
    served.engine.says = {"sees": True, "hears": True}
    wrong: dict[str, Any] = {}
    with httpx2.Client(base_url=served.url, timeout=60) as client:

        def ask(named: tuple[str, Any]) -> None:
            name, body = named
            reply = client.post(path, content=json.dumps(body))
            if reply.status_code == 200:
                return
            said = reply.json()["error"]["message"]
            if reply.status_code not in {400, 404} or len(said) < 20:
                wrong[name] = reply.status_code, said

        with ThreadPoolExecutor(8) as threads:
            each = None if exhaustive else 4  # of 15 ways, so each field gets a different four
            list(threads.map(ask, islice(broken(BODIES[endpoint]), 0, None, each)))
    assert wrong == {}


def test_every_body_is_taken_where_nothing_in_it_is_broken(served: Served) -> None:
    served.engine.says = {"sees": True, "hears": True}
    for endpoint, body in BODIES.items():
        reply = served.post(endpoint.partition("#")[0], body)
        known = endpoint != "/v1/responses#format"  # its item has an id that was never given out
        assert (reply.status_code == 200) is known, (endpoint, reply.text)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/responses", {"input": []}, "input"),
        ("/v1/responses", {"input": [{"type": "no_such_thing"}]}, "input"),
        ("/v1/responses", {"input": [{"type": {}}]}, "input.0.type"),
        ("/v1/responses", {"input": [{"role": "user", "content": 5}]}, "input.0.content"),
        ("/v1/responses", {"input": [{"role": "user", "content": ["a"]}]}, "input.0.content.0"),
        (
            "/v1/responses",
            {"input": [{"role": "user", "content": [{"type": []}]}]},
            "input.0.content.0.type",
        ),
        ("/v1/responses", {"input": [{"type": "reasoning", "summary": 1}]}, "input.0.summary"),
        ("/v1/responses", {"input": "Hi", "tools": [{"type": 5}]}, "tools.0.type"),
        (
            "/v1/responses",
            {"input": "Hi", "tools": [{"type": "namespace", "name": "a", "tools": ["b"]}]},
            "tools.0.tools.0",
        ),
        (
            "/v1/responses",
            {"input": "Hi", "tools": [{"type": "custom", "name": "a", "format": "b"}]},
            "tools.0.format",
        ),
        ("/v1/responses", {"input": "Hi", "tool_choice": {"type": []}}, "tool_choice.type"),
        (
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": [{"type": {}}]}]},
            "messages.0.content.0.type",
        ),
        ("/v1/embeddings", {"input": []}, "input"),
        ("/v1/completions", {"prompt": []}, "prompt"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(
    served: Served, path: str, body: dict[str, Any], field: str
) -> None:
    reply = served.post(path, {"model": "starter", **body})
    assert reply.status_code == 400
    assert reply.json()["error"]["param"] == field


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": []}],
        [{"role": "user", "content": [{"type": "redacted_thinking", "data": "a"}]}],
    ],
)
def test_messages_without_any_content_are_refused(served: Served, path: str, messages: Any) -> None:
    reply = served.post(path, {"model": "starter", "max_tokens": 1, "messages": messages})
    assert reply.status_code == 400
    assert "“messages.0.content”" in reply.json()["error"]["message"]
