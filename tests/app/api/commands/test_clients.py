"""`hearth clients`: keys for programs, and the list of their requests."""

from __future__ import annotations

import json
import time
from contextlib import closing
from typing import Any

import pytest

from app.api.store import ApiClientStore
from app.api.values import ApiClient, ApiUse
from app.base.folder import DataFolder
from app.wiring.app import open_app
from tests.support.terminal import Hearth

Capture = pytest.CaptureFixture[str]


def said(capsys: Capture) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_key_is_made_shown_once_and_taken_back(hearth: Hearth, capsys: Capture) -> None:
    words = ("--models", "starter", "--limit", "30", "--at-once", "2")
    assert hearth("clients", "add", "my editor", *words, "--json") == 0
    added = said(capsys)
    assert (added["name"], added["models"]) == ("my editor", ["starter"])
    assert (added["per_minute"], added["at_once"]) == (30, 2)
    with closing(open_app(DataFolder.default())) as app:
        client = app.api_keys.identify(added["key"])
        assert client is not None
        assert client.name == "my editor"
    assert hearth("clients", "list", "--json") == 0
    (listed,) = said(capsys)
    assert added["key"] not in json.dumps(listed)
    assert "digest" not in listed
    assert hearth("clients", "list") == 0
    assert "30 a minute, 2 at once" in capsys.readouterr().out
    assert hearth("clients", "rm", "my editor") == 0
    capsys.readouterr()
    assert hearth("clients", "rm", "my editor", "--json") == 1
    assert said(capsys)["error"]["code"] == "client_not_found"
    assert hearth("clients", "list") == 0
    assert "hearth clients add" in capsys.readouterr().out


def test_a_model_that_is_not_here_is_no_model_to_allow(hearth: Hearth, capsys: Capture) -> None:
    assert hearth("clients", "add", "editor", "--models", "starter,nothing", "--json") == 1
    assert said(capsys)["error"]["code"] == "model_not_found"
    assert hearth("clients", "list", "--json") == 0
    assert said(capsys) == []


def test_who_asked_is_listed_with_what_left_and_cleared(hearth: Hearth, capsys: Capture) -> None:
    use = ApiUse(
        time.time(), 1.5, "editor", "192.168.1.9", 8117, "POST", "/v1/messages", "starter", 1200,
        34, 5000, 600, 200,
    )  # fmt: skip
    with closing(open_app(DataFolder.default())) as app:
        app.api_keys.record_use(use)
    assert hearth("models", "search", "x", "--offline") == 1
    capsys.readouterr()
    assert hearth("connections", "--json") == 0
    left, came = said(capsys)
    assert (left["purpose"], left["result"]) == ("search for models", "refused")
    assert (came["client"], came["host"], came["model"]) == ("editor", "192.168.1.9", "starter")
    assert {*left} < {*came}
    assert hearth("connections") == 0
    shown = capsys.readouterr().out
    assert "192.168.1.9" in shown
    assert "1,200 tokens" in shown
    assert hearth("clients", "uses", "--json") == 0
    assert said(capsys)[0]["endpoint"] == "/v1/messages"
    assert hearth("connections", "--clear", "--json") == 0
    assert said(capsys) == {"cleared": 2}
    assert hearth("clients", "uses") == 0
    assert "No program has sent a request yet." in capsys.readouterr().out


def test_the_token_is_shown_where_it_is_kept(
    hearth: Hearth, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert hearth("clients", "token", "--json") == 1
    assert said(capsys)["error"]["code"] == "no_keyring"
    monkeypatch.setenv("HEARTH_API_TOKEN", "of-the-environment")
    assert hearth("clients", "token", "--json") == 0
    assert said(capsys) == {"token": "of-the-environment", "token_place": "environment"}


def test_a_name_has_a_limit_and_a_long_one_of_before_is_cut(
    hearth: Hearth, capsys: Capture
) -> None:
    long = ("editor " * 42).strip()
    assert hearth("clients", "add", long, "--json") == 1
    assert said(capsys)["error"]["code"] == "client_invalid"
    with closing(open_app(DataFolder.default())) as app:
        ApiClientStore(app.database).add(ApiClient("1", long, "digest"))
        app.api_keys.record_use(
            ApiUse(time.time(), 1, long, "::1", 1, "GET", "other", "", 0, 0, 0, 0, 1)
        )
    for words in (("clients", "list"), ("clients", "uses"), ("connections",)):
        assert hearth(*words) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) < 200
    assert hearth("clients", "rm", long) == 0
