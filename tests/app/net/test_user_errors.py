"""Connection errors from real sockets, worded in three parts."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.base.errors import (
    AddressInvalid,
    AppError,
    CertificateRefused,
    ConnectionTimedOut,
    NoConnection,
    Offline,
)
from app.net import Gate, as_user_error, endpoint
from app.net.values.connections import LoggedConnection
from tests.app.net.conftest import PURPOSE, Reply, Server


def met(gate: Gate, url: str, timeout: float = 5.0) -> AppError:
    """Send a request that fails and return the error for the user."""
    with gate.for_purpose(PURPOSE), pytest.raises(httpx2.HTTPError) as caught:
        gate.client.get(url, timeout=timeout)
    error = as_user_error(caught.value, "hub.example")
    assert all(part.endswith(".") for part in (error.what, error.why, error.do))
    return error


@pytest.fixture
def silent() -> Iterator[str]:
    """Yield the address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_nothing_answers(gate: Gate) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    error = met(gate, f"http://127.0.0.1:{port}")
    assert isinstance(error, NoConnection)
    assert "Nothing answers" in error.why
    assert "hub.example" in error.what


def test_a_name_that_is_not_found(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_nothing(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", find_nothing)
    error = met(gate, "http://hub.example")
    assert isinstance(error, NoConnection)
    assert "cannot be found" in error.why


def test_too_slow(gate: Gate, silent: str) -> None:
    assert isinstance(met(gate, silent, timeout=0.1), ConnectionTimedOut)


def test_a_certificate_that_nobody_trusts(gate: Gate, secure: Server) -> None:
    error = met(gate, f"https://localhost:{secure.port}/")
    assert isinstance(error, CertificateRefused)
    assert "inspects" in error.why
    assert secure.came == []


def test_a_certificate_for_another_name(
    gate: Gate, secure: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert isinstance(met(gate, f"https://127.0.0.1:{secure.port}/"), CertificateRefused)


def test_a_certificate_that_the_system_trusts(
    gate: Gate, secure: Server, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client connects to localhost by its address, and checks the name all the same."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    secure.replies["/"] = Reply(b"secure")
    with gate.for_purpose(PURPOSE):
        assert gate.client.get(f"https://localhost:{secure.port}/").text == "secure"


def test_certificates_that_cannot_be_read(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    with pytest.raises(CertificateRefused, match="SSL_CERT_FILE"), gate.for_purpose(PURPOSE):
        pass


def test_redirects_without_an_end(gate: Gate, server: Server) -> None:
    server.replies["/"] = Reply(status=302, headers={"Location": "/"})
    error = met(gate, server.url)
    assert isinstance(error, NoConnection)
    assert "without an end" in error.why


def test_an_address_of_another_kind(gate: Gate) -> None:
    assert isinstance(met(gate, "gopher://127.0.0.1/"), AddressInvalid)


@pytest.mark.parametrize("url", [f"http://{'a' * 70}/", "http://a..b/"])
def test_an_address_that_nothing_can_have(
    gate: Gate, kept: list[LoggedConnection], url: str
) -> None:
    assert isinstance(met(gate, url), AddressInvalid)
    assert [line.result for line in kept] == ["failed"]


def test_our_own_errors_stay_and_bugs_are_raised() -> None:
    ours = Offline("Hearth is offline.", "It was told so.", "Go on line.")
    assert as_user_error(ours, "hub.example") is ours
    with pytest.raises(KeyError):
        as_user_error(KeyError("a bug"), "hub.example")


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (None, "https://huggingface.co"),
        ("", "https://huggingface.co"),
        ("https://mirror.example/", "https://mirror.example"),
        (" http://127.0.0.1:8080 ", "http://127.0.0.1:8080"),
    ],
)
def test_the_endpoint_is_read_when_it_is_needed(
    monkeypatch: pytest.MonkeyPatch, given: str | None, address: str
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://before.example")
    assert endpoint() == "https://before.example"
    if given is None:
        monkeypatch.delenv("HF_ENDPOINT")
    else:
        monkeypatch.setenv("HF_ENDPOINT", given)
    assert endpoint() == address


@pytest.mark.parametrize(
    "given",
    ["mirror.example", "ftp://mirror.example", "https://", "http://[::1", "http://127.0.0.1:99999"],
)
def test_an_endpoint_that_is_no_address(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", given)
    with pytest.raises(AddressInvalid, match="HF_ENDPOINT"):
        endpoint()
