"""huggingface_hub with the gate's client: no telemetry, no token of its own, no bypass."""

from __future__ import annotations

import threading

import pytest
from huggingface_hub import HfApi, close_session, constants, get_session, get_token

from app.base.errors import NoConnection, Offline
from app.net import Gate
from app.net.huggingface import MOST, HubEndless, HubRefused, HubTooLong
from app.net.values.connections import LoggedConnection
from tests.app.net.conftest import PURPOSE, Reply, Server, Switch


@pytest.fixture(autouse=True)
def as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn on all that the gate has to turn off, until the test ends."""
    for name in ("TELEMETRY", "XET", "IMPLICIT_TOKEN"):
        monkeypatch.setattr(constants, f"HF_HUB_DISABLE_{name}", False)
    monkeypatch.setenv("HF_TOKEN", "hf_of_the_environment")


@pytest.fixture
def api(server: Server) -> HfApi:
    return HfApi(endpoint=server.url, token="hf_secret")


JSON = {"Content-Type": "application/json"}


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
    assert came.headers["User-Agent"].startswith("hearth/")
    assert "python" not in came.headers["User-Agent"]
    assert [line.purpose for line in kept] == ["look at a model"]


def test_its_requests_stay_here_when_hearth_is_offline(gate: Gate, offline: Switch) -> None:
    offline.on = True
    with gate.for_purpose(PURPOSE), pytest.raises(Offline):
        HfApi(endpoint="https://hub.invalid").model_info("a/b")


def test_each_gate_writes_down_its_own_requests(
    gate: Gate, server: Server, api: HfApi, kept: list[LoggedConnection]
) -> None:
    server.replies["/api/whoami-v2"] = Reply(b'{"name": "ada"}', headers=JSON)
    its: list[LoggedConnection] = []
    newer = Gate(its.append, lambda: False)
    try:
        for one, lines in ((gate, kept), (newer, its), (gate, kept)):
            before = len(lines)
            with one.for_purpose("test a token"):
                assert api.whoami()["name"] == "ada"
            assert len(lines) == before + 1
    finally:
        newer.close()
    with pytest.raises(RuntimeError, match="purpose"):
        api.whoami()


def test_a_closed_gate_answers_nothing(gate: Gate, api: HfApi) -> None:
    with gate.for_purpose(PURPOSE):
        gate.close()
        with pytest.raises(RuntimeError, match="closed"):
            api.whoami()


@pytest.mark.parametrize("status", [400, 401, 404, 408, 429, 500, 503])
def test_a_refused_request_comes_back_at_once(
    gate: Gate, server: Server, api: HfApi, status: int
) -> None:
    """The library itself would wait an hour and try again."""
    headers = {"Retry-After": "3600", "RateLimit": '"api";r=0;t=3600'}
    server.replies["/api/models"] = Reply(b"{}", status, headers)
    with gate.for_purpose(PURPOSE), pytest.raises(HubRefused) as caught:
        list(api.list_models())
    assert caught.value.status == status
    assert caught.value.headers["retry-after"] == "3600"
    assert len(server.came) == 1


def test_a_broken_connection_comes_back_at_once(
    gate: Gate, server: Server, api: HfApi, kept: list[LoggedConnection]
) -> None:
    server.replies["/api/models"] = Reply(b"[]", short=1)
    with gate.for_purpose(PURPOSE), pytest.raises(NoConnection):
        list(api.list_models())
    nobody = HfApi(endpoint="http://127.0.0.1:1")
    with gate.for_purpose(PURPOSE), pytest.raises(NoConnection):
        list(nobody.list_models())
    server.replies["/api/models"] = Reply(status=302, headers={"Location": "http://1.2.3.400/"})
    with gate.for_purpose(PURPOSE), pytest.raises(NoConnection):
        list(api.list_models())
    assert len(kept) == 3


def test_a_request_that_is_hung_up_comes_back_at_once(
    gate: Gate, server: Server, api: HfApi
) -> None:
    begun, over = threading.Event(), threading.Event()

    def silent() -> Reply:
        begun.set()
        over.wait(60)
        return Reply(b"[]", headers=JSON)

    server.replies["/api/models"] = silent

    def leave() -> None:
        assert begun.wait(60)
        gate.hang_up()

    leaving = threading.Thread(target=leave)
    leaving.start()
    with gate.for_purpose(PURPOSE), pytest.raises(NoConnection):
        list(api.list_models())
    leaving.join()
    over.set()
    assert len(server.came) == 1


def test_a_long_answer_is_refused(gate: Gate, server: Server, api: HfApi) -> None:
    server.replies["/api/models"] = Reply(b" " * MOST + b"[]", headers=JSON)
    with gate.for_purpose(PURPOSE), pytest.raises(HubTooLong):
        list(api.list_models())


def test_pages_without_an_end_are_refused(gate: Gate, server: Server, api: HfApi) -> None:
    again = {**JSON, "Link": f'<{server.url}/api/models>; rel="next"'}
    server.replies["/api/models"] = Reply(b"[]", headers=again)
    with gate.for_purpose(PURPOSE), pytest.raises(HubEndless):
        list(api.list_models())


def test_a_page_on_another_server_gets_no_token(
    gate: Gate, server: Server, other: Server, api: HfApi
) -> None:
    more = {**JSON, "Link": f'<{other.url}/more>; rel="next"'}
    server.replies["/api/models"] = Reply(b'[{"id": "a/b"}]', headers=more)
    other.replies["/more"] = Reply(b'[{"id": "c/d"}]', headers=JSON)
    with gate.for_purpose(PURPOSE):
        assert [it.id for it in api.list_models()] == ["a/b", "c/d"]
    assert server.came[0].headers["Authorization"] == "Bearer hf_secret"
    assert "Authorization" not in other.came[0].headers


def test_its_session_can_be_closed(gate: Gate, server: Server, api: HfApi) -> None:
    """The library itself closes its session when it finds no host."""
    server.replies["/api/whoami-v2"] = Reply(b'{"name": "ada"}', headers=JSON)
    with gate.for_purpose(PURPOSE):
        session = get_session()
        session.close()
        close_session()
        assert api.whoami()["name"] == "ada"
        assert gate.client.get(f"{server.url}/api/whoami-v2").status_code == 200


def test_what_is_off(gate: Gate) -> None:
    with gate.for_purpose(PURPOSE):
        assert constants.HF_HUB_DISABLE_TELEMETRY
        assert constants.HF_HUB_DISABLE_XET
        assert constants.HF_HUB_DISABLE_IMPLICIT_TOKEN
    assert get_token() == "hf_of_the_environment"
