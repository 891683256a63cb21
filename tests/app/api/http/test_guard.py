"""Requests that the guard lets through and requests that it refuses, over real sockets."""

from __future__ import annotations

import asyncio
import json
import threading
import zlib
from contextlib import ExitStack

import anyio
import pytest

from app.api.http.guard import Rules
from app.api.http.server import Server
from app.api.services.api_keys import ApiKeys
from tests.app.api.http.conftest import (
    Reply,
    Serve,
    ask,
    connected,
    flood,
    head,
    noted,
    port_of,
    read_all,
)
from tests.support.waiting import until

QUICK = Rules(wrong_key_delay_s=0.05, longest_delay_s=0.2)


@pytest.fixture
def quick(serve: Serve) -> Server:
    return serve(QUICK)


def test_the_token_opens_where_either_protocol_puts_it(server: Server, token: str) -> None:
    assert ask(server, token=token).status == 200
    reply = ask(server, headers={"x-api-key": token})
    assert json.loads(reply.body) == {"who": "Hearth"}
    assert (
        ask(server, headers={"x-api-key": "old", "Authorization": f"bearer {token}"}).status == 200
    )


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Basic aGVhcnRoOng="},
        {"Authorization": "Bearer"},
        {"x-api-key": ""},
        {"Cookie": "token=x"},
    ],
)
def test_without_a_key_nothing_is_told(server: Server, headers: dict[str, str]) -> None:
    reply = ask(server, headers=headers)
    assert (reply.status, reply.code) == (401, "no_key")
    assert reply.headers["www-authenticate"] == "Bearer"
    assert json.loads(reply.body)["error"]["path"] == "/v1/models"


def test_a_key_in_the_address_is_none(server: Server, token: str) -> None:
    assert ask(server, f"/v1/models?api_key={token}").status == 401


def test_that_the_server_is_there_is_told_to_everybody_and_no_more(server: Server) -> None:
    reply = ask(server, "/health")
    assert (reply.status, json.loads(reply.body)) == (200, {"status": "ok"})
    assert "server" not in reply.headers


def test_a_body_where_none_belongs_is_not_read(server: Server) -> None:
    endless = {"Transfer-Encoding": "chunked"}
    assert ask(server, "/health", method="POST", headers=endless).status == 413
    assert ask(server, "/health", body=b"x" * 10).status == 413


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:{port}",
        "127.0.0.1.attacker.example:{port}",
        "localhost.attacker.example:{port}",
        "127.0.0.1:1",
        "127.0.0.1",
        "localhost",
        "192.168.1.20:{port}",
        "0.0.0.0:{port}",
        "user@127.0.0.1:{port}",
        "",
    ],
)
def test_a_name_that_leads_here_from_elsewhere_is_refused(
    server: Server, token: str, host: str
) -> None:
    """DNS rebinding: attacker.example points its own name at 127.0.0.1 and asks there."""
    sent_to = host.format(port=port_of(server))
    reply = ask(server, token=token, headers={"Host": sent_to})
    assert (reply.status, reply.code) == (421, "wrong_host")
    assert ask(server, "/health", headers={"Host": sent_to}).status == 421


@pytest.mark.parametrize(
    "host", ["localhost:{port}", "LOCALHOST:{port}", "127.0.0.2:{port}", "[::1]:{port}"]
)
def test_the_names_of_this_computer_are_its_own(server: Server, token: str, host: str) -> None:
    sent_to = host.format(port=port_of(server))
    assert ask(server, token=token, headers={"Host": sent_to}).status == 200


def test_a_name_that_the_user_has_listed_is_one_of_them(serve: Serve, token: str) -> None:
    server = serve(names=("box.local",))
    assert ask(server, token=token, headers={"Host": "box.local:443"}).status == 200
    assert ask(server, token=token, headers={"Host": "box.local.example"}).status == 421


def test_two_hosts_are_none(server: Server, token: str) -> None:
    own = f"127.0.0.1:{port_of(server)}"
    request = head(server, token=token).replace(
        b"Connection", b"Host: %s\r\nConnection" % own.encode()
    )
    with connected(server) as connection:
        connection.sendall(request)
        assert Reply(read_all(connection)).status in {400, 421}


@pytest.mark.parametrize("origin", ["https://attacker.example", "null", "http://127.0.0.1:80"])
def test_a_page_of_another_site_is_refused_whatever_it_knows(
    server: Server, token: str, origin: str
) -> None:
    reply = ask(server, token=token, headers={"Origin": origin})
    assert (reply.status, reply.code) == (403, "wrong_origin")
    assert not [name for name in reply.headers if name.startswith("access-control")]
    before = ask(
        server,
        method="OPTIONS",
        headers={"Origin": origin, "Access-Control-Request-Method": "POST"},
    )
    assert before.status == 403


def test_pages_of_a_listed_site_may_ask(serve: Serve, token: str) -> None:
    server = serve(sites=("https://chat.example",))
    site = {"Origin": "https://chat.example"}
    wanted = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    before = ask(server, "/v1/chat/completions", method="OPTIONS", headers={**site, **wanted})
    assert before.status == 204
    assert before.headers["access-control-allow-origin"] == "https://chat.example"
    assert before.headers["access-control-allow-headers"] == "authorization, content-type"
    assert before.headers["access-control-allow-methods"] == "GET, POST, DELETE"
    assert "access-control-allow-credentials" not in before.headers
    reply = ask(server, token=token, headers=site)
    assert (reply.status, reply.headers["vary"]) == (200, "Origin")
    assert reply.headers["access-control-allow-origin"] == "https://chat.example"
    refused = ask(server, headers=site)
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, site["Origin"])
    assert ask(server, token=token, headers={"Origin": "https://chat.example.evil"}).status == 403


def test_wrong_keys_wait_longer_each_time_and_the_right_one_never(
    quick: Server, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(anyio, "sleep", sleep)
    for _ in range(4):
        assert ask(quick, token="hearth-of-somebody-else").code == "wrong_key"
    assert waits == [0.05, 0.1, 0.2, 0.2]
    assert ask(quick, token=token).status == 200
    assert len(waits) == 4


def test_many_wrong_keys_at_once_are_not_kept_waiting(
    serve: Serve, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, goes_on = serve(Rules(most_waiting=2)), threading.Event()

    async def sleep(_seconds: float) -> None:
        while not goes_on.is_set():
            await asyncio.sleep(0.01)

    monkeypatch.setattr(anyio, "sleep", sleep)
    codes: list[str] = []
    asking = [
        threading.Thread(target=lambda: codes.append(ask(server, token="wrong").code))
        for _ in range(8)
    ]
    for it in asking:
        it.start()
    assert ask(server, token=token).status == 200
    until(lambda: len(codes) == 6)
    assert set(codes) == {"too_many_wrong_keys"}
    goes_on.set()
    for it in asking:
        it.join()
    assert codes[6:] == ["wrong_key", "wrong_key"]


def test_wrong_keys_are_noted_once_a_minute(quick: Server, keys: ApiKeys) -> None:
    for _ in range(3):
        ask(quick, "/v1/models/what-somebody-wrote", token="wrong")
    (use,) = keys.uses(10)
    assert (use.client, use.status, use.endpoint) == ("", 401, "/v1/models")


def test_without_a_token_every_program_of_this_computer_may_ask(serve: Serve) -> None:
    server = serve(needs_token=False)
    assert ask(server).status == 200
    assert ask(server, token="whatever").status == 200
    assert ask(server, headers={"Origin": "https://attacker.example"}).status == 403
    assert ask(server, headers={"Host": "attacker.example"}).status == 421


def test_a_client_has_a_key_of_its_own_until_it_is_removed(quick: Server, keys: ApiKeys) -> None:
    _, key = keys.add("editor")
    assert json.loads(ask(quick, token=key.reveal()).body) == {"who": "editor"}
    keys.remove("Editor")
    assert ask(quick, token=key.reveal()).status == 401


def test_a_client_asks_no_more_often_than_it_may(server: Server, keys: ApiKeys, token: str) -> None:
    _, key = keys.add("editor", per_minute=2)
    assert [ask(server, token=key.reveal()).status for _ in range(2)] == [200, 200]
    reply = ask(server, token=key.reveal())
    assert (reply.status, reply.code) == (429, "too_many_requests")
    assert 50 < int(reply.headers["retry-after"]) <= 60
    assert ask(server, token=token).status == 200


def test_a_client_asks_no_more_at_once_than_it_may(server: Server, keys: ApiKeys) -> None:
    _, secret = keys.add("editor", at_once=1)
    key = secret.reveal()
    with connected(server) as connection:
        connection.sendall(head(server, "/v1/responses", method="POST", token=key))
        assert connection.recv(15) == b"HTTP/1.1 200 OK"
        assert ask(server, token=key).code == "too_many_at_once"
    until(lambda: ask(server, token=key).status == 200)


def test_what_was_used_is_noted_and_what_was_said_is_not(
    server: Server, keys: ApiKeys, token: str
) -> None:
    ask(server, "/v1/chat/completions", method="POST", token=token, body=b'{"secret": "words"}')
    ask(server, "/v1/models/words?secret=words", token=token)
    ask(server, "/secret/words", token=token)
    found = sorted(noted(keys, 3), key=lambda it: it.endpoint, reverse=True)
    assert [(it.endpoint, it.status) for it in found] == [
        ("other", 404), ("/v1/models", 404), ("/v1/chat/completions", 200),
    ]  # fmt: skip
    chat = found[-1]
    assert (chat.client, chat.address, chat.model) == ("Hearth", "127.0.0.1", "starter")
    assert (chat.prompt_tokens, chat.completion_tokens) == (11, 7)
    assert "words" not in repr(found)


def test_a_body_that_is_too_large_is_refused_before_it_is_sent(server: Server, token: str) -> None:
    with connected(server) as connection:
        huge = {"Content-Length": str(33 * 1024 * 1024)}
        connection.sendall(
            head(server, "/v1/chat/completions", method="POST", token=token, headers=huge)
        )
        reply = Reply(read_all(connection))
    assert (reply.status, reply.code) == (413, "too_large")


def test_a_body_that_does_not_tell_its_size_is_refused_once_it_is_too_large(
    serve: Serve, token: str
) -> None:
    server = serve(Rules(body_bytes=200_000))
    chunked = {"Transfer-Encoding": "chunked"}
    chunk = b"2710\r\n" + b"x" * 10_000 + b"\r\n"
    with connected(server) as connection:
        connection.sendall(
            head(server, "/v1/chat/completions", method="POST", token=token, headers=chunked)
        )
        flood(connection, chunk)


def test_a_body_as_large_as_it_may_be_arrives_whole(server: Server, token: str) -> None:
    body = b"x" * (32 * 1024 * 1024)
    reply = ask(server, "/v1/chat/completions", method="POST", token=token, body=body)
    assert json.loads(reply.body) == {"length": len(body)}


def test_a_body_that_trickles_is_given_up(serve: Serve, token: str) -> None:
    server = serve(Rules(body_s=0.5))
    length = {"Content-Length": "1000"}
    with connected(server) as connection, ExitStack() as ends:
        connection.sendall(
            head(server, "/v1/chat/completions", method="POST", token=token, headers=length)
        )
        stop = threading.Event()

        def trickle() -> None:
            while not stop.wait(0.1):
                try:
                    connection.sendall(b"x")
                except OSError:
                    return

        trickling = threading.Thread(target=trickle)
        trickling.start()
        ends.callback(trickling.join)
        ends.callback(stop.set)
        reply = Reply(read_all(connection))
    assert (reply.status, reply.code) == (408, "too_slow")


def test_a_body_of_nobody_is_not_waited_for(server: Server) -> None:
    length = {"Content-Length": "1000", "Expect": "100-continue"}
    reply = ask(server, "/v1/chat/completions", method="POST", headers=length)
    assert reply.status == 401


@pytest.mark.parametrize(
    "target",
    [
        "/../../etc/passwd",
        "/v1/../../../etc/passwd",
        "/v1/%2e%2e/%2e%2e/etc/passwd",
        "/v1/models/..%2f..%2fetc%2fpasswd",
        "/v1/models/%00",
        "/file:///etc/passwd",
        "http://attacker.example/v1/chat/completions",
        "//attacker.example/v1/models",
    ],
)
def test_no_path_leads_to_a_file_or_elsewhere(server: Server, token: str, target: str) -> None:
    reply = ask(server, target, token=token)
    assert reply.status == 404
    assert b"root:" not in reply.data


def test_a_mistake_of_ours_ends_one_request_in_the_protocols_own_words(
    server: Server, token: str, caplog: pytest.LogCaptureFixture
) -> None:
    reply = ask(server, "/v1/rerank", method="POST", token=token)
    assert reply.status == 500
    assert ask(server, token=token).status == 200
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("http://127.0.0.1:{port}/v1/models", 200),
        ("HTTP://localhost:{port}/v1/models?limit=1", 200),
        ("http://127.0.0.1:{port}", 401),  # the page at “/”, which needs a key
        ("http://127.0.0.1:{port}/health", 200),
        ("http://attacker.example/v1/models", 404),
        ("http://127.0.0.1:1/v1/models", 404),
        ("http://user@127.0.0.1:{port}/v1/models", 404),
        ("https://127.0.0.1:{port}/v1/models", 404),
        ("http://127.0.0.1:{port}@attacker.example/v1/models", 404),
        ("http:///v1/models", 404),
    ],
)
def test_a_target_with_the_address_of_this_server_is_its_path(
    server: Server, keys: ApiKeys, target: str, status: int
) -> None:
    asked = target.format(port=port_of(server))
    token = "" if status == 401 else keys.token().secret.reveal()
    assert ask(server, asked, token=token).status == status
    if status == 200 and "health" not in target:
        assert noted(keys, 1)[0].endpoint == "/v1/models"


def test_such_a_target_does_not_stand_for_the_host_that_a_page_names(
    server: Server, token: str
) -> None:
    asked = f"http://127.0.0.1:{port_of(server)}/v1/models"
    headers = {"Host": "attacker.example"}
    assert ask(server, asked, token=token, headers=headers).status == 421


@pytest.mark.parametrize("coding", ["chunked", "Chunked", "identity", "gzip, chunked"])
def test_a_body_with_two_lengths_is_refused(server: Server, token: str, coding: str) -> None:
    headers = {"Transfer-Encoding": coding, "Content-Length": "2"}
    with connected(server) as connection:
        asked = head(
            server, "/v1/chat/completions", method="POST", token=token,
            headers={**headers, "Connection": "keep-alive"},
        )  # fmt: skip
        smuggled = head(server, "/v1/models", token=token)
        connection.sendall(asked + b"2\r\n{}\r\n0\r\n\r\n" + smuggled)
        said = read_all(connection)
    assert said.count(b"HTTP/1.1 ") == 1
    assert Reply(said).status in {400, 501}


@pytest.mark.parametrize("how", ["zlib", "raw", "gzip"])
def test_a_compressed_body_is_read(server: Server, token: str, how: str) -> None:
    bits = {"zlib": zlib.MAX_WBITS, "raw": -zlib.MAX_WBITS, "gzip": zlib.MAX_WBITS | 16}[how]
    packed = zlib.compressobj(wbits=bits)
    body = packed.compress(b"x" * 100_000) + packed.flush()
    headers = {"Content-Encoding": "gzip" if how == "gzip" else "deflate"}
    asked = {"method": "POST", "token": token, "headers": headers}
    reply = ask(server, "/v1/chat/completions", **asked, body=body)
    assert (reply.status, json.loads(reply.body)) == (200, {"length": 100_000})
    assert ask(server, "/v1/chat/completions", **asked, body=body[:-9]).status == 400
    assert ask(server, "/v1/chat/completions", **asked, body=b"no such thing").status == 400


def test_a_raw_body_is_no_larger_than_others(server: Server, token: str) -> None:
    packed = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    body = packed.compress(bytes(40 * 1024 * 1024)) + packed.flush()
    headers = {"Content-Encoding": "deflate"}
    asked = {"method": "POST", "token": token, "headers": headers}
    assert ask(server, "/v1/chat/completions", **asked, body=body).status == 413
