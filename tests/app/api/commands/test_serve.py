"""`hearth serve`, in a process of its own and in this one."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import pytest

from tests.app.api.http.conftest import Reply, read_all
from tests.support.rings import RING_FILE
from tests.support.terminal import Hearth

Capture = pytest.CaptureFixture[str]
Serving = Callable[..., tuple[subprocess.Popen[str], dict[str, Any]]]


def launched(*words: str, stdout: int = subprocess.PIPE) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "app", "serve", "--port", "0", *words],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    """End a server and return its output on stderr."""
    process.terminate()
    return process.communicate(timeout=60)[1]


@pytest.fixture
def serving() -> Iterator[Serving]:
    """Return a function that starts `hearth serve` and reads the line printed when it is ready."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str, typed: str = "") -> tuple[subprocess.Popen[str], dict[str, Any]]:
        process = launched("--json", *words)
        started.append(process)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(typed)
        process.stdin.close()
        return process, json.loads(process.stdout.readline())

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def ask(url: str, path: str, token: str = "") -> Reply:
    port = int(url.removesuffix("/v1").rpartition(":")[2])
    key = f"Authorization: Bearer {token}\r\n" if token else ""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{key}\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request.encode())
        return Reply(read_all(connection))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process, and asks it nothing")
@pytest.mark.parametrize(("number", "status"), [("SIGTERM", 0), ("SIGHUP", 0), ("SIGINT", 130)])
def test_it_serves_until_it_is_told_to_end(serving: Serving, number: str, status: int) -> None:
    process, told = serving()
    assert told["url"].startswith("http://127.0.0.1:")
    assert told["url"].endswith("/v1")
    assert (told["exposed"], told["encrypted"]) == (False, False)
    assert ask(told["url"], "/health").status == 200
    assert ask(told["url"], "/v1/nothing").status == 401
    assert ask(told["url"], "/v1/nothing", told["token"]).status == 404
    process.send_signal(getattr(signal, number))
    assert process.wait(timeout=60) == status
    assert process.stderr is not None
    assert process.stderr.read() == ""


def test_the_token_may_come_from_standard_input_or_a_file(serving: Serving, tmp_path: Path) -> None:
    _, told = serving("--token-stdin", typed="a-token-that-was-typed\n")
    assert (told["token"], told["token_place"]) == ("a-token-that-was-typed", "given")
    assert ask(told["url"], "/v1/nothing", "a-token-that-was-typed").status == 404
    file = tmp_path / "token"
    file.write_text("a-token-of-a-file-here\n", encoding="utf-8")
    _, told = serving("--token-file", str(file))
    assert ask(told["url"], "/v1/nothing", "a-token-of-a-file-here").status == 404


def told_in(lines: list[str]) -> tuple[str, str]:
    """Return the address and the token from the lines printed for people."""
    (address,) = (it.split()[2].rstrip(";") for it in lines if it.startswith("Listening at "))
    tokens = [it.removeprefix("Token: ").strip() for it in lines if it.startswith("Token: ")]
    return address, tokens[0] if tokens else ""


def first_lines(stream: IO[str], last: str) -> list[str]:
    """Return the lines up to the first one that contains `last`."""
    lines = []
    for line in stream:
        lines.append(line)
        if last in line:
            return lines
    raise AssertionError(lines)


def test_without_a_keyring_the_token_is_printed_into_a_pipe_or_a_journal() -> None:
    seen = set()
    for _ in range(2):
        process = launched()
        assert process.stdout is not None
        address, token = told_in(first_lines(process.stdout, "--token-file"))
        try:
            assert ask(address, "/v1/nothing").status == 401
            assert ask(address, "/v1/nothing", token).status == 404
        finally:
            said = ended(process)
        assert token not in said
        seen.add(token)
    assert len(seen) == 2  # the token is not stored, so the next start makes another


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such terminals")
def test_without_a_keyring_the_token_is_printed_at_a_terminal() -> None:
    ours, theirs = os.openpty()
    process = launched(stdout=theirs)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as terminal:
        address, token = told_in(first_lines(terminal, "--token-file"))
        try:
            assert ask(address, "/v1/nothing", token).status == 404
        finally:
            ended(process)


def test_a_token_of_ones_own_file_stays_the_same(
    serving: Serving, hearth: Hearth, capsys: Capture, tmp_path: Path
) -> None:
    assert hearth("clients", "token", "--new") == 0
    made = capsys.readouterr()
    assert "--token-file" in made.err
    file = tmp_path / "token"
    file.touch(mode=0o600)
    file.write_text(made.out, encoding="utf-8")
    for _ in range(2):
        process, told = serving("--token-file", str(file))
        assert (told["token"], told["token_place"]) == (made.out.strip(), "given")
        assert ask(told["url"], "/v1/nothing", made.out.strip()).status == 404
        process.terminate()
        process.wait(timeout=60)
    process = launched("--token-file", str(file))
    assert process.stdout is not None
    lines = first_lines(process.stdout, "you supplied")
    assert made.out.strip() not in "".join(lines) + ended(process)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_token_file_that_others_may_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("a-token-of-a-file-here\n", encoding="utf-8")
    file.chmod(0o644)
    process = launched("--token-file", str(file))
    assert process.stdout is not None
    first_lines(process.stdout, "you supplied")
    assert "chmod 600" in ended(process)


def test_with_a_keyring_the_token_is_shown_once_and_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.support.rings.FileRing")
    monkeypatch.setenv(RING_FILE, str(tmp_path / "ring"))
    process = launched()
    assert process.stdout is not None
    address, token = told_in(first_lines(process.stdout, "keyring"))
    assert ask(address, "/v1/nothing", token).status == 404
    ended(process)
    process = launched()
    assert process.stdout is not None
    address, again = told_in(first_lines(process.stdout, "hearth clients token"))
    assert again == ""
    assert ask(address, "/v1/nothing", token).status == 404
    ended(process)


def test_a_locked_keyring_is_told_and_a_given_token_goes_round_it(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "tests.support.rings.LockedRing")
    process = launched("--json")
    told = json.loads(process.communicate(timeout=60)[0])
    assert process.returncode == 1
    assert told["error"]["code"] == "keyring"
    assert "HEARTH_API_TOKEN" in told["error"]["do"]
    _, told = serving("--token-stdin", typed="a-token-that-was-typed\n")
    assert ask(told["url"], "/v1/nothing", "a-token-that-was-typed").status == 404
    monkeypatch.setenv("HEARTH_API_TOKEN", "a-token-of-the-environment")
    _, told = serving()
    assert ask(told["url"], "/v1/nothing", "a-token-of-the-environment").status == 404
    monkeypatch.delenv("HEARTH_API_TOKEN")
    _, told = serving("--no-token")
    assert ask(told["url"], "/v1/nothing").status == 404
    assert ask(told["url"], "/v1/nothing", "what-a-client-sends-anyway").status == 404


def test_without_a_token_every_program_may_ask(serving: Serving) -> None:
    _, told = serving("--no-token")
    assert (told["token"], told["token_place"]) == (None, "none")
    assert ask(told["url"], "/v1/nothing").status == 404


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (("--host", "0.0.0.0"), "not_safe", "--expose"),
        (("--expose",), "not_safe", "--without-tls"),
        (("--expose", "--without-tls", "--no-token"), "not_safe", "--no-token"),
        (("--expose", "--tls-cert", "cert.pem"), "not_safe", "--tls-key"),
        (
            ("--expose", "--tls-cert", "cert.pem", "--tls-key", "key.pem"),
            "certificate_refused", "certificate",
        ),
        (("--host", "192.0.2.1", "--expose", "--without-tls"), "address_not_free", "address"),
        (("--host", "box.example", "--expose", "--without-tls"), "address_invalid", "address"),
        (("--token-file", "nowhere"), "file_not_text", "file"),
    ],
)  # fmt: skip
def test_what_cannot_or_should_not_be_is_told(
    hearth: Hearth, capsys: Capture, words: tuple[str, ...], code: str, part: str
) -> None:
    assert hearth("serve", "--port", "0", *words, "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == code
    assert part in error["do"]


@pytest.mark.parametrize(
    "words", [("--port", "70000"), ("--port", "x"), ("--no-token", "--token-stdin")]
)
def test_wrong_usage_is_told(hearth: Hearth, capsys: Capture, words: tuple[str, ...]) -> None:
    assert hearth("serve", *words) == 2
    assert "hearth serve --help" in capsys.readouterr().err


def test_a_port_in_use_is_told_in_a_sentence(hearth: Hearth, capsys: Capture) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        assert hearth("serve", "--port", str(port)) == 1
    said = capsys.readouterr().err
    assert f"Another program already listens at port {port}." in said
    assert "Traceback" not in said


def test_a_short_token_is_refused(
    hearth: Hearth, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1234\n"))
    assert hearth("serve", "--port", "0", "--token-stdin", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "token_malformed"
