"""The gate with real sockets of this computer: purposes, the ledger, offline, redirects, tokens."""

from __future__ import annotations

import logging
import socket
import threading
from typing import NoReturn

import httpx2
import pytest

from app.base.errors import NoConnection, Offline
from app.net import Gate, as_user_error
from app.net.entry import LedgerEntry
from app.net.values.connections import LoggedConnection
from engines.redaction import remember
from tests.app.net.conftest import PURPOSE, Reply, Server, Switch

TOKEN = {"Authorization": "Bearer hf_secret"}


@pytest.fixture
def no_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail a test that looks up a name or opens a socket."""

    def refuse(*args: object, **_: object) -> NoReturn:
        pytest.fail(f"something was looked up: {args}")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def get(gate: Gate, url: str, headers: dict[str, str] | None = None) -> httpx2.Response:
    with gate.for_purpose(PURPOSE):
        return gate.client.get(url, headers=headers or {})


def test_a_request_is_answered_and_written_down(
    gate: Gate, server: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/file"] = Reply(b"x" * 1000)
    assert get(gate, f"{server.url}/file").content == b"x" * 1000
    (line,) = kept
    assert (line.host, line.port) == ("127.0.0.1", server.port)
    assert (line.purpose, line.method, line.result) == (PURPOSE, "GET", "200")
    assert (line.sent, line.received, line.proxy) == (0, 1000, None)
    assert line.started > 1_700_000_000
    assert line.seconds > 0


def test_bytes_that_go_out_are_counted(
    gate: Gate, server: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/form"] = Reply(b"thanks")
    with gate.for_purpose("test a token"):
        gate.client.post(f"{server.url}/form", content=b"y" * 300)
    assert server.came[0].body == b"y" * 300
    assert (kept[0].sent, kept[0].received, kept[0].method) == (300, 6, "POST")


@pytest.mark.parametrize("status", [204, 404, 500])
def test_the_result_is_the_status(
    gate: Gate, server: Server, kept: list[LoggedConnection], status: int
) -> None:
    server.replies["/"] = Reply(status=status)
    get(gate, server.url)
    assert kept[0].result == str(status)


def test_a_head_request_ends_with_its_status(
    gate: Gate, server: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/file"] = Reply(b"x" * 1000)
    with (
        gate.for_purpose(PURPOSE),
        gate.client.stream("HEAD", f"{server.url}/file") as response,
    ):
        assert response.headers["Content-Length"] == "1000"
    assert (kept[0].result, kept[0].received) == ("200", 0)


def test_an_answer_that_is_not_read_to_its_end_was_cancelled(
    gate: Gate, server: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/file"] = Reply(b"x" * 1_000_000)
    with gate.for_purpose(PURPOSE), gate.client.stream("GET", f"{server.url}/file") as response:
        pieces = response.iter_raw(10)
        next(pieces)
        assert kept == []
    assert kept[0].result == "cancelled"
    assert 0 < kept[0].received < 1_000_000


def test_a_connection_that_breaks_off_has_failed(
    gate: Gate, server: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/file"] = Reply(b"x" * 1000, short=1)
    with pytest.raises(httpx2.RemoteProtocolError) as caught:
        get(gate, f"{server.url}/file")
    assert (kept[0].result, kept[0].received) == ("failed", 999)
    assert isinstance(as_user_error(caught.value, "hub"), NoConnection)


def test_a_request_without_a_purpose_is_a_bug(
    gate: Gate, server: Server, kept: list[LoggedConnection]
) -> None:
    with pytest.raises(RuntimeError, match="purpose"):
        gate.client.get(server.url)
    get(gate, server.url)
    with pytest.raises(RuntimeError, match="purpose"):
        gate.client.get(server.url)
    assert len(server.came) == 1
    assert len(kept) == 1


def test_a_purpose_is_one_of_the_list(gate: Gate) -> None:
    with pytest.raises(ValueError, match="spy"), gate.for_purpose("spy"):  # type: ignore[arg-type]
        pass


def test_each_thread_has_its_own_purpose(
    gate: Gate, server: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/"] = Reply(b"hello")
    failed: list[BaseException] = []

    def search() -> None:
        with gate.for_purpose("search for models"):
            gate.client.get(server.url)
        try:
            gate.client.get(server.url)
        except RuntimeError as error:
            failed.append(error)

    with gate.for_purpose("download a model"):
        thread = threading.Thread(target=search)
        thread.start()
        thread.join()
        gate.client.get(server.url)
    assert [line.purpose for line in kept] == ["search for models", "download a model"]
    assert len(failed) == 1, "a purpose does not spread to other threads"


@pytest.mark.usefixtures("no_lookup")
@pytest.mark.parametrize(
    "url",
    [
        "https://huggingface.co/api/models",
        "http://hub.invalid",
        "http://192.0.2.1:8080/file",
        "http://0.0.0.0/",
        "http://localhost.example/",
        "http://127.0.0.1.example/",
        "http://user@hub.invalid/",
        "http://[2001:db8::1]/",
        "ftp://hub.invalid/",
    ],
)
def test_offline_nothing_is_even_looked_up(
    gate: Gate, offline: Switch, kept: list[LoggedConnection], url: str
) -> None:
    offline.on = True
    with pytest.raises(Offline) as caught:
        get(gate, url)
    assert caught.value.code == "offline"
    assert httpx2.URL(url).host in caught.value.why
    assert [(line.host, line.result) for line in kept] == [(httpx2.URL(url).host, "refused")]


@pytest.mark.usefixtures("no_lookup")
def test_offline_a_proxy_on_this_computer_is_no_way_out(
    gate: Gate, offline: Switch, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    offline.on = True
    with pytest.raises(Offline):
        get(gate, "http://hub.invalid/")
    assert server.came == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_offline_this_computer_can_be_reached(
    gate: Gate, offline: Switch, server: Server, host: str
) -> None:
    server.replies["/"] = Reply(b"here")
    offline.on = True
    assert get(gate, f"http://{host}:{server.port}/").text == "here"


def test_localhost_is_not_looked_up(
    gate: Gate, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, asked = socket.getaddrinfo, []

    def spy(host: str, *args: object, **named: object) -> object:
        asked.append(host)
        return real(host, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", spy)
    server.replies["/"] = Reply(b"here")
    assert get(gate, f"http://localhost:{server.port}/").text == "here"
    assert server.came[0].headers["Host"] == f"localhost:{server.port}"
    assert set(asked) <= {"127.0.0.1", "::1"}


def test_offline_a_redirect_does_not_lead_outside(
    gate: Gate, offline: Switch, server: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/file"] = Reply(status=302, headers={"Location": "http://cdn.invalid/file"})
    offline.on = True
    with pytest.raises(Offline, match=r"cdn\.invalid"):
        get(gate, f"{server.url}/file")
    assert [line.result for line in kept] == ["302", "refused"]


def test_going_offline_ends_what_is_under_way(
    gate: Gate, offline: Switch, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server counts as one outside, as the test cannot reach a real one."""
    from app.net import client
    from app.net import metered_stream as counted

    monkeypatch.setattr(client, "is_loopback", lambda _: False)
    monkeypatch.setattr(counted, "CHECK_S", 0.0)
    server.replies["/file"] = Reply(b"x" * 1_000_000)
    with gate.for_purpose(PURPOSE), gate.client.stream("GET", f"{server.url}/file") as response:
        pieces = response.iter_raw()
        next(pieces)
        offline.on = True
        with pytest.raises(Offline):
            list(pieces)


def test_each_hop_of_a_redirect_is_written_down(
    gate: Gate, server: Server, other: Server, kept: list[LoggedConnection]
) -> None:
    server.replies["/file"] = Reply(status=302, headers={"Location": f"{other.url}/there"})
    other.replies["/there"] = Reply(b"content")
    assert get(gate, f"{server.url}/file").text == "content"
    assert [(line.port, line.result) for line in kept] == [
        (server.port, "302"),
        (other.port, "200"),
    ]


def test_a_token_stays_with_its_host(gate: Gate, server: Server, other: Server) -> None:
    server.replies["/a"] = Reply(status=302, headers={"Location": "/b"})
    server.replies["/b"] = Reply(status=307, headers={"Location": f"{other.url}/c"})
    other.replies["/c"] = Reply(status=302, headers={"Location": f"{server.url}/d"})
    server.replies["/d"] = Reply(b"end")
    assert get(gate, f"{server.url}/a", TOKEN).text == "end"
    assert [came.headers.get("Authorization") for came in server.came[:2]] == [
        "Bearer hf_secret",
        "Bearer hf_secret",
    ]
    assert "Authorization" not in other.came[0].headers
    assert "hf_secret" not in str(other.came[0].headers)


def test_a_token_does_not_follow_a_link_to_another_host(
    gate: Gate, server: Server, other: Server
) -> None:
    """A page of results names the next one, which is fetched with the headers of the first."""
    with gate.for_purpose("search for models"):
        gate.client.get(server.url, headers=TOKEN)
        gate.client.get(other.url, headers=TOKEN)
        gate.client.get(server.url, headers=TOKEN)
    assert [("Authorization" in came.headers) for came in server.came] == [True, True]
    assert "Authorization" not in other.came[0].headers


def test_no_cookie_is_kept(gate: Gate, server: Server) -> None:
    server.replies["/"] = Reply(headers={"Set-Cookie": "who=you; Path=/"})
    get(gate, server.url)
    get(gate, server.url)
    assert "Cookie" not in server.came[1].headers


def test_a_ledger_that_fails_is_logged_and_the_answer_arrives(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    from app.base.errors import DiskFull

    def full(_: LoggedConnection) -> None:
        raise DiskFull("The disk is full.", "Nothing fits.", "Make room.")

    gate = Gate(full, lambda: False)
    server.replies["/"] = Reply(b"here")
    try:
        assert get(gate, server.url).text == "here"
    finally:
        gate.close()
    assert "not in the ledger" in caplog.text


def test_no_address_and_no_token_is_logged(
    gate: Gate, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    get(gate, f"{server.url}/file?signature=abc", TOKEN)
    assert "signature" not in caplog.text
    assert "hf_secret" not in caplog.text


def test_a_closed_gate_lets_nothing_through(server: Server) -> None:
    gate = Gate(lambda _: None, lambda: False)
    get(gate, server.url)
    gate.close()
    gate.close()
    with pytest.raises(RuntimeError, match="closed"):
        get(gate, server.url)
    unused = Gate(lambda _: None, lambda: False)
    unused.close()


def test_a_secret_in_the_name_of_a_host_is_not_in_the_ledger(kept: list[LoggedConnection]) -> None:
    """A redirect could name such a host."""
    remember("hf_secret0815")
    LedgerEntry(kept.append, "hf_secret0815.invalid", 443, PURPOSE, "GET").end("failed")
    assert [it.host for it in kept] == ["[hidden].invalid"]
