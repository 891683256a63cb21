"""huggingface_hub on the gate's client: no call home, no token of its own, no way round."""

from __future__ import annotations

import pytest
from huggingface_hub import HfApi, constants, get_token
from huggingface_hub.utils._http import get_session

from app.base.errors import Offline
from app.net import Gate
from app.net.values.connections import LoggedConnection
from tests.app.net.conftest import PURPOSE, Reply, Server, Switch


@pytest.fixture(autouse=True)
def as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With everything on that the gate has to turn off; put back after the test."""
    for name in ("TELEMETRY", "XET", "IMPLICIT_TOKEN"):
        monkeypatch.setattr(constants, f"HF_HUB_DISABLE_{name}", False)
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_environment")


def test_its_session_is_the_client_of_the_gate(gate: Gate) -> None:
    with gate.for_purpose(PURPOSE):
        assert get_session() is gate.client


def test_its_requests_are_written_down_and_nothing_else_is_asked(
    gate: Gate, server: Server, kept: list[LoggedConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", server.url)
    monkeypatch.setenv("AI_AGENT", "somebody")
    server.replies["/api/models/a/b"] = Reply(
        b'{"id": "a/b"}', headers={"Content-Type": "application/json"}
    )
    with gate.for_purpose("look at a model"):
        assert HfApi(endpoint=server.url).model_info("a/b").id == "a/b"
    (came,) = server.came
    assert came.path == "/api/models/a/b"
    assert "Authorization" not in came.headers, "it found a token by itself"
    assert "agent" not in came.headers["User-Agent"]
    assert [line.purpose for line in kept] == ["look at a model"]


def test_its_requests_stay_here_when_hearth_is_offline(gate: Gate, offline: Switch) -> None:
    offline.on = True
    with gate.for_purpose(PURPOSE), pytest.raises(Offline):
        HfApi(endpoint="https://hub.invalid").model_info("a/b")


def test_a_newer_gate_takes_over(gate: Gate, server: Server) -> None:
    with gate.for_purpose(PURPOSE):
        get_session()
    newer = Gate(lambda _: None, lambda: False)
    try:
        with newer.for_purpose(PURPOSE):
            assert get_session() is newer.client
    finally:
        newer.close()
    with pytest.raises(RuntimeError, match="closed"):
        get_session().get(server.url)


def test_what_is_off(gate: Gate) -> None:
    with gate.for_purpose(PURPOSE):
        assert constants.HF_HUB_DISABLE_TELEMETRY
        assert constants.HF_HUB_DISABLE_XET
        assert constants.HF_HUB_DISABLE_IMPLICIT_TOKEN
    assert get_token() == "hf_of_the_environment"
