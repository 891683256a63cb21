"""`hearth connections` and `--offline`, with a Hub on this computer."""

from __future__ import annotations

import json

import pytest

from engines.openai.values import ServerKind
from tests.hub.testhub import TestHub
from tests.support.openai_server import OpenAiServer
from tests.support.terminal import Hearth


def test_what_was_asked_is_listed_and_cleared(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with TestHub() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        assert hearth("models", "search", "gemma", "--json") == 0
    capsys.readouterr()
    assert hearth("connections", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert {line["purpose"] for line in listed} == {"search for models"}
    assert {line["result"] for line in listed} == {"200"}
    assert set(listed[0]) == {
        "started", "seconds", "host", "port", "purpose", "method", "sent", "received", "result",
        "proxy",
    }  # fmt: skip
    assert hearth("connections") == 0
    assert "search for models" in capsys.readouterr().out
    assert hearth("connections", "--clear", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"cleared": len(listed)}
    assert hearth("connections") == 0
    assert "No connection" in capsys.readouterr().out


@pytest.mark.parametrize("way", ["option", "setting"])
def test_offline_a_search_is_refused_and_written_down(
    hearth: Hearth,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    way: str,
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    words = ["models", "search", "gemma", "--json"]
    if way == "setting":
        assert hearth("settings", "set", "offline", "true", "--quiet") == 0
        capsys.readouterr()
    else:
        words = ["--offline", *words]
    assert hearth(*words) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "offline"
    assert hearth("connections", "--json") == 0
    (line,) = json.loads(capsys.readouterr().out)
    assert (line["host"], line["result"]) == ("hub.invalid", "refused")
    assert hearth("settings", "get", "offline", "--json") == 0
    assert json.loads(capsys.readouterr().out)["value"] is (way == "setting")


def test_the_list_has_as_many_lines_as_wanted(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
    for _ in range(3):
        assert hearth("models", "search", "x", "--offline") == 1
    capsys.readouterr()
    assert hearth("connections", "--limit", "2", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == 2


@pytest.mark.parametrize(("kind", "port"), [("lmstudio", 1234), ("ollama", 11434)])
def test_what_goes_to_a_server_on_another_computer_is_listed(
    hearth: Hearth,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kind: ServerKind,
    port: int,
) -> None:
    """A proxy on loopback answers in place of the other computer."""
    question = "What is Hearth? " * 40
    with OpenAiServer(kind, context=4096) as server:
        monkeypatch.setenv("http_proxy", server.address)
        assert hearth("servers", "add", "box", f"http://box.example:{port}") == 0
        assert hearth("servers", "test", "box") == 0
        assert hearth("ask", question, "--model", "box:tiny") == 0
    capsys.readouterr()
    assert hearth("connections", "--json") == 0
    lines = json.loads(capsys.readouterr().out)
    assert {(it["host"], it["port"]) for it in lines} == {("box.example", port)}
    assert {it["purpose"] for it in lines} == {
        "look at a server",
        "list a server's models",
        "ask a server",
    }
    (chat,) = (it for it in lines if it["method"] == "POST" and it["sent"] > len(question))
    assert (chat["purpose"], chat["result"]) == ("ask a server", "200")
    assert chat["received"] > 0
    assert hearth("connections") == 0
    row = next(it for it in capsys.readouterr().out.splitlines() if "ask a server" in it)
    assert f"box.example:{port}" in row
    assert "by 127.0.0.1" in row
