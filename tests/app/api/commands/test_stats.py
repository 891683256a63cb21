"""`hearth stats`, asking a real server on loopback."""

from __future__ import annotations

import io
import json
import socket  # noqa: TID251 - a port where nobody listens
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from app.api.commands.stats import MetricsUnreadable, parse_samples, stats_of
from app.base.folder import DataFolder
from app.net.values.serving import LOOPBACK, Address, ServeOptions
from app.wiring.app import App, open_app
from tests.support.scripted import ScriptedEngine
from tests.support.terminal import Hearth

TOKEN = "hearth-0123456789abcdef"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def served(tmp_path: Path, engine: ScriptedEngine) -> Iterator[App]:
    """Start another Hearth whose server is running."""
    assert engine.plans == []
    with closing(open_app(DataFolder(tmp_path / "other"))) as app:
        app.api_keys.use_token(TOKEN)
        app.server.start(ServeOptions(Address(LOOPBACK, 0)))
        yield app


def ask(app: App) -> None:
    response = httpx2.post(
        f"{url(app)}/v1/chat/completions",
        headers={"Authorization": f"Bearer {TOKEN}"},
        json={"model": "starter", "messages": [{"role": "user", "content": "Hi"}]},
        timeout=60,
    )
    assert response.status_code == 200, response.text


def url(app: App) -> str:
    return app.server.status.url


def test_what_clients_took_is_told_by_model(
    served: App, hearth: Hearth, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(served)
    ask(served)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{TOKEN}\n"))
    assert hearth("stats", "--url", f"{url(served)}/v1", "--token-stdin", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    [model] = told["models"]
    assert told["url"] == url(served)
    assert told["memory_bytes"] > 1e7
    assert (model["model"], model["engine"], model["finished"]) == (
        "starter", "llamacpp", {"stop": 2},
    )  # fmt: skip
    tokens = ("prompt_tokens", "cached_tokens", "completion_tokens", "drafted")
    assert [model[it] for it in tokens] == [10, 4, 4, 0]
    assert model["ttft_s"] >= model["queue_s"] > 0
    assert model["kv_cache_used"] == 0.25
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{TOKEN}\n"))
    assert hearth("stats", "--url", url(served), "--token-stdin") == 0
    head, line, memory = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["Model", "Engine"]
    assert line.split()[:7] == ["starter", "llamacpp", "0", "0", "2", "4", "6"]
    assert memory.startswith("Memory used: ")


def test_a_server_that_nobody_asked_says_so(
    served: App, hearth: Hearth, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{TOKEN}\n"))
    assert hearth("stats", "--url", url(served), "--token-stdin") == 0
    assert "It has not answered any request yet." in capsys.readouterr().out


def test_without_the_token_it_is_refused(served: App, hearth: Hearth, capsys: Capture) -> None:
    assert hearth("stats", "--url", url(served), "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "metrics_refused"
    assert "401" in error["why"]
    assert "hearth clients token" in error["do"]


def test_where_no_server_runs_it_says_how_to_start_one(hearth: Hearth, capsys: Capture) -> None:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = free.getsockname()[1]
        assert hearth("stats", "--url", f"http://127.0.0.1:{port}", "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "no_connection"
    assert "hearth serve" in error["do"]


@pytest.mark.parametrize("url", ["ftp://x", "x", "http://", "http://x:0", "file:///etc/passwd"])
def test_an_address_that_is_none_is_named(hearth: Hearth, capsys: Capture, url: str) -> None:
    for more in ((), ("--offline",)):
        assert hearth("stats", "--url", url, "--json", *more) == 1
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["code"] == "address_invalid"
        assert url.rstrip("/") in error["what"]
        assert "HF_ENDPOINT" not in error["do"]


def test_an_answer_without_metrics_is_explained() -> None:
    with pytest.raises(MetricsUnreadable) as caught:
        parse_samples("<!doctype html><title>Another program</title>", "http://localhost:8000")
    assert "http://localhost:8000" in caught.value.what
    assert "--url" in caught.value.do


def test_models_are_told_apart_by_their_engine() -> None:
    text = "".join(
        f'vllm:generation_tokens_total{{model="m",engine="{engine}"}} {count}\n'
        for engine, count in (("vllm", 5), ("remote", 7))
    )
    found = stats_of(parse_samples(f"up 1\n{text}", "http://localhost"))
    assert [(it.engine, it.completion_tokens) for it in found] == [("remote", 7), ("vllm", 5)]
    assert found[0].ttft_s is None
